package operator

import (
	"slices"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// nameWord is a word that may name the operator of a definition.
type nameWord struct {
	word      string
	catalogue bool
}

// nameWords returns the words of a definition: the catalog's name, its kind, and the
// distinctive parts of its group.
func nameWords(d *definition) []nameWord {
	var out []nameWord
	add := func(word string, catalogue bool) {
		word = check.PlainName(word)
		if word != "" && !slices.ContainsFunc(out, func(w nameWord) bool { return w.word == word }) {
			out = append(out, nameWord{word, catalogue})
		}
	}
	if d.own != "" {
		add(d.own, true)
		add(stem(d.own), true)
	}
	if len(d.kind.Kind) > 2 {
		add(d.kind.Kind, false)
	}
	add(d.plural, false)
	parts := strings.Split(d.group, ".")
	for _, part := range parts[:max(0, len(parts)-1)] {
		if len(part) > 3 && !slices.Contains(commonWords, part) {
			add(part, false)
		}
	}
	return out
}

// commonWords are parts of API groups that do not identify an owner.
var commonWords = []string{"apps", "core", "x-k8s", "k8s-sigs", "operator", "operators", "config", "example", "cluster", "coreos", "github", "google", "cloud", "databases", "networking", "security", "storage", "monitoring", "infrastructure"}

// roles are the last words of workload names that name a part of an operator.
var roles = []string{"operator", "controller", "manager", "webhook", "webhooks", "server", "admission", "cainjector", "apiserver", "metrics", "agent", "daemon", "cluster", "core", "api", "handler", "node", "scheduler", "audit"}

// stem returns a name without the words for its part: cert-manager for cert-manager-webhook. A
// name that has only such words stays as it is.
func stem(name string) string {
	parts := strings.Split(name, "-")
	end := len(parts)
	for end > 1 && slices.Contains(roles, parts[end-1]) {
		end--
	}
	if end == 1 && slices.Contains(roles, parts[0]) {
		return ""
	}
	stem := strings.Join(parts[:end], "-")
	for _, role := range []string{"operator", "controller"} {
		if rest, ok := strings.CutSuffix(stem, role); ok && len(rest) > 3 {
			stem = strings.TrimRight(rest, "-")
		}
	}
	return stem
}

// parts returns the parts of an image's repository: jetstack and cert-manager-controller.
// Parts that only give its location are left out.
func parts(image string) []string {
	return slices.DeleteFunc(strings.Split(image, "/"), func(p string) bool {
		return slices.Contains([]string{"library", "bitnami", "ghcr.io", "docker.io", "quay.io"}, p)
	})
}
