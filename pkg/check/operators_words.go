package check

import (
	"slices"
	"strings"
)

// operatorWord is a word by which the operator of a definition may go.
type operatorWord struct {
	word      string
	catalogue bool
}

// operatorWords returns the words of a definition: the catalogue's name, its kind, and the
// parts of its group that are not everybody's.
func operatorWords(d *operatorDefinition) []operatorWord {
	var out []operatorWord
	add := func(word string, catalogue bool) {
		word = operatorPlain(word)
		if word != "" && !slices.ContainsFunc(out, func(w operatorWord) bool { return w.word == word }) {
			out = append(out, operatorWord{word, catalogue})
		}
	}
	if d.own != "" {
		add(d.own, true)
		add(operatorStem(d.own), true)
	}
	if len(d.kind.Kind) > 2 {
		add(d.kind.Kind, false)
	}
	add(d.plural, false)
	parts := strings.Split(d.group, ".")
	for _, part := range parts[:max(0, len(parts)-1)] {
		if len(part) > 3 && !slices.Contains(operatorCommonWords, part) {
			add(part, false)
		}
	}
	return out
}

// operatorCommonWords are parts of API groups that say nothing of whose they are.
var operatorCommonWords = []string{"apps", "core", "x-k8s", "k8s-sigs", "operator", "operators", "config", "example", "cluster", "coreos", "github", "google", "cloud", "databases", "networking", "security", "storage", "monitoring", "infrastructure"}

// operatorRoles are the words at the end of names of workloads that say what part of an
// operator one is.
var operatorRoles = []string{"operator", "controller", "manager", "webhook", "webhooks", "server", "admission", "cainjector", "apiserver", "metrics", "agent", "daemon", "cluster", "core", "api", "handler", "node", "scheduler", "audit"}

// operatorStem returns a name without the words that say what part it is: cert-manager-
// webhook is of cert-manager. A name that is all roles stays as it is.
func operatorStem(name string) string {
	parts := strings.Split(name, "-")
	end := len(parts)
	for end > 1 && slices.Contains(operatorRoles, parts[end-1]) {
		end--
	}
	if end == 1 && slices.Contains(operatorRoles, parts[0]) {
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

// operatorPlain writes a name so that argo-cd, ArgoCD and argocd are one.
func operatorPlain(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "", ".", "").Replace(name))
}

// operatorParts returns the parts of an image's repository: jetstack and cert-manager-
// controller. Those that only say where it lies are left out.
func operatorParts(image string) []string {
	return slices.DeleteFunc(strings.Split(image, "/"), func(p string) bool {
		return slices.Contains([]string{"library", "bitnami", "ghcr.io", "docker.io", "quay.io"}, p)
	})
}
