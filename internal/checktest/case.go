package checktest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

// Case is a small world, a rule, and the expected result for one stack.
type Case struct {
	Name, YAML string
	// root is Deployment.apps/ns/web where it is empty.
	Root, rule string
	Unread     []string
	// wrong are the findings, "severity object field = value"; right and open the objects.
	Wrong, Right, Open []string
	// says are parts of the messages.
	Says []string
}

func (c *Case) run(t *testing.T, rules []check.Rule, find func(*check.ClusterState) []*check.Operator) {
	t.Helper()
	root := c.Root
	if root == "" {
		root = "Deployment.apps/ns/web"
	}
	w := Read(t, find, c.YAML, c.Unread...)
	r := Only(t, rules, c.rule, w.Stack(root).Check)
	var wrong, right, open, messages []string
	for _, f := range r.Findings {
		line := fmt.Sprintf("%s %s", f.Severity, f.Object)
		if f.Field != "" {
			line += " " + f.Field
		}
		if f.Value != "" {
			line += " = " + f.Value
		}
		wrong = append(wrong, line)
		messages = append(messages, f.Message)
		if f.Message == "" || strings.HasSuffix(f.Message, ".") {
			t.Errorf("message %q", f.Message)
		}
	}
	for _, ref := range r.Passed {
		right = append(right, ref.String())
	}
	for _, u := range r.Unknowns {
		open = append(open, u.Object.String())
		messages = append(messages, u.Reason)
	}
	for _, x := range []struct {
		what      string
		got, want []string
	}{{"wrong", wrong, c.Wrong}, {"right", right, c.Right}, {"open", open, c.Open}} {
		if !slices.Equal(x.got, x.want) {
			t.Errorf("%s: got\n  %s\nwant\n  %s", x.what, strings.Join(x.got, "\n  "), strings.Join(x.want, "\n  "))
		}
	}
	all := strings.Join(messages, "\n")
	for _, part := range c.Says {
		if !strings.Contains(all, part) {
			t.Errorf("%q is not said in:\n%s", part, all)
		}
	}
}

// Run runs cases of a rule, or of others that they name.
func Run(t *testing.T, rules []check.Rule, find func(*check.ClusterState) []*check.Operator, rule string, cases []Case) {
	t.Helper()
	for _, c := range cases {
		if c.rule == "" {
			c.rule = rule
		}
		t.Run(c.rule+"/"+c.Name, func(t *testing.T) { c.run(t, rules, find) })
	}
}
