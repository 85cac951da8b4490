package check

import (
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Describe names an object in a sentence: ClusterRole shop, Secret shop/tls.
func Describe(ref object.Ref) string {
	if ref.Namespace == "" {
		return ref.Kind + " " + ref.Name
	}
	return ref.Kind + " " + ref.Namespace + "/" + ref.Name
}

// DescribeAll lists objects in the form of Describe.
func DescribeAll(refs []object.Ref) string {
	words := make([]string, 0, len(refs))
	for _, r := range refs {
		words = append(words, Describe(r))
	}
	return object.ShortList(words)
}

// Names lists objects by their names alone.
func Names(refs []object.Ref) string {
	var names []string
	for _, r := range refs {
		names = append(names, r.Name)
	}
	return object.ShortList(names)
}

// Near names an object in a sentence about another one, with its namespace only where that
// differs.
func Near(r, from object.Ref) string {
	if r.Namespace == from.Namespace {
		r.Namespace = ""
	}
	return r.String()
}

var separators = strings.NewReplacer("-", "", "_", "", ".", "")

// PlainName normalizes a name: argo-cd, ArgoCD and argocd are equal.
func PlainName(name string) string {
	return strings.ToLower(separators.Replace(name))
}

// IsTrue reports whether a text switches something on.
func IsTrue(text string) bool {
	switch strings.ToLower(text) {
	case "true", "1", "yes", "on":
		return true
	}
	return false
}
