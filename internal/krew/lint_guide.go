package krew

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The longest that reviewers take.
const (
	maxShort = 50
	maxLine  = 80
)

var (
	kebab     = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	redundant = regexp.MustCompile(`(?i)\b(kubectl|kubernetes|k8s|plug-?ins?)\b`)
	// A command in prose is in backticks; one in a block is indented or has a prompt.
	example = regexp.MustCompile("(?im)^\\s*\\$ .*|^\\s{2,}kubectl .*|`+\\s*(\\$ )?kubectl .*|^\\s*(usage|examples?):?\\s*$")
)

// guide is what the naming guide and the best practices ask for.
func (l *linter) guide() {
	l.name()
	spec := l.manifest.Spec
	if n := utf8.RuneCountInString(spec.ShortDescription); n > maxShort {
		l.add(ruleShortLength, "spec.shortDescription", "leave out what the description can say", "it has %d characters, and the limit is %d", n, maxShort)
	}
	if word := redundant.FindString(spec.ShortDescription); word != "" {
		l.add(ruleRedundant, "spec.shortDescription", "leave it out: everything in an index is one", "it says %q", word)
	}
	if line := example.FindString(spec.Description); line != "" {
		l.add(ruleExamples, "spec.description", "put examples into caveats, or on the homepage", "%q is an example", strings.TrimSpace(line))
	}
	for _, f := range []struct{ path, text string }{{"spec.description", spec.Description}, {"spec.caveats", spec.Caveats}} {
		for n, line := range strings.Split(f.text, "\n") {
			// One long word, an address for one, cannot be broken.
			if utf8.RuneCountInString(line) > maxLine && strings.Contains(strings.TrimSpace(line), " ") {
				l.add(ruleLineLength, f.path, "break it", "its line %d has more than %d characters", n+1, maxLine)
			}
		}
	}
}

func (l *linter) name() {
	const path = "metadata.name"
	name := l.manifest.Metadata.Name
	if !kebab.MatchString(name) {
		l.add(ruleKebab, path, "write lower-case words with dashes between them", "%q", name)
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' })
	for _, w := range words {
		switch {
		case slices.Contains([]string{"kube", "kubernetes", "kubectl", "k8s"}, w):
			l.add(ruleKube, path, "leave it out: every plugin is one for Kubernetes", "it has %q in it", w)
		case slices.Contains(acronyms(), w):
			l.add(ruleAcronym, path, "write the word in full", "%q is an acronym of a resource", w)
		}
	}
	switch {
	case slices.Contains(generic(), name):
		l.add(ruleGeneric, path, "name its vendor or subject: vendor-"+name, "%q could be any plugin's", name)
	case slices.Contains(taken(), name):
		l.add(ruleTaken, path, "put a word of your own before it", "there is a plugin %q in the index", name)
	}
}

// acronyms are the short names of the resources of Kubernetes.
func acronyms() []string {
	return []string{
		"cj", "cm", "crd", "crds", "cs", "csr", "deploy", "ds", "ep", "ev", "hpa", "ing", "netpol", "no", "ns",
		"pc", "pdb", "po", "psp", "pv", "pvc", "rc", "rs", "sa", "sc", "sts", "svc",
	}
}

// generic are words that kubectl has as commands, or that reviewers have refused or asked to
// be made more exact.
func generic() []string {
	return []string{
		"add", "ai", "annotate", "apply", "attach", "auth", "autoscale", "backup", "cache", "check", "clean", "cluster",
		"completion", "config", "context", "cp", "create", "dashboard", "debug", "delete", "deploy", "describe", "diff",
		"drain", "edit", "events", "exec", "explain", "expose", "find", "get", "health", "info", "install", "label",
		"list", "login", "logout", "logs", "metrics", "monitor", "namespace", "node", "patch", "pod", "proxy", "replace",
		"replicas", "resources", "restart", "rollout", "run", "scale", "search", "secret", "service", "set", "show",
		"stacks", "statistics", "stats", "status", "switch", "test", "top", "ui", "uninstall", "update", "upgrade",
		"validate", "version", "view", "wait", "watch",
	}
}

// taken are names in the index that a suite like this one could come upon. The index is the
// one to ask before a name is submitted.
func taken() []string {
	return []string{
		"argo-apps-viz", "cilium", "cnpg", "cost", "cost-scan", "costwatch", "graph", "krew", "lineage", "operator",
		"rabbitmq", "service-tree", "topology", "tree",
	}
}
