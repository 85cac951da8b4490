package all

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
)

var updateGuidelines = flag.Bool("update-guidelines", false, "write the page of the guidelines")

const guidelinesPage = "../../../docs/guidelines.md"

// guidelinesUnasked says of principles that no rule comes from why that is so.
func guidelinesUnasked() map[string]string {
	return map[string]string{
		check.MaturityGuideline(20).String(): "Audit logs are switched on by flags of the API server, which a cluster does not show to those who use it.",
	}
}

// TestGuidelinesPage holds the page of the rules equal to the table; -update-guidelines
// writes it.
func TestGuidelinesPage(t *testing.T) {
	got := guidelinesText(Rules())
	if *updateGuidelines {
		if err := os.WriteFile(guidelinesPage, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(guidelinesPage)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not current: run go generate ./pkg/check/all", guidelinesPage)
	}
}

// allGuidelines are the principles of both models, in order.
func allGuidelines() []check.Guideline {
	var all []check.Guideline
	for n := range 24 {
		all = append(all, check.MaturityGuideline(n+1))
	}
	for n := range 7 {
		all = append(all, check.CoreOSGuideline(n+1))
	}
	return all
}

// Each principle has a rule, or a word why not, and not both.
func TestGuidelinesAreAsked(t *testing.T) {
	by := guidelinesBy(Rules())
	all := allGuidelines()
	for why := range guidelinesUnasked() {
		found := false
		for _, g := range all {
			found = found || g.String() == why
		}
		if !found {
			t.Errorf("%s is no principle", why)
		}
	}
	for _, g := range all {
		_, excused := guidelinesUnasked()[g.String()]
		if asked := len(by[g.String()]) > 0; asked == excused {
			t.Errorf("%s: rules %v, and a word why there is none: %v", g, by[g.String()], excused)
		}
	}
	for text := range by {
		found := false
		for _, g := range all {
			found = found || g.String() == text
		}
		if !found {
			t.Errorf("%s is no principle of the two models", text)
		}
	}
}

// guidelinesBy are the rules of each principle.
func guidelinesBy(rules []check.Rule) map[string][]*check.Rule {
	by := map[string][]*check.Rule{}
	for i := range rules {
		for _, g := range rules[i].Guidelines {
			by[g.String()] = append(by[g.String()], &rules[i])
		}
	}
	return by
}

func guidelinesText(rules []check.Rule) string {
	var b strings.Builder
	b.WriteString(`# Guidelines, as they are checked

This page is made from the table of rules (` + "`go generate ./pkg/check/all`" + `). How ` + "`kubectl sysop check`" + `
is used, and how a finding is waived, is in [check.md](check.md).

Each rule comes from a principle of one of two models: the Operator Maturity Model, as
KubePlus published it in 2020, and the principles that CoreOS gave for operators in 2016.
[The last part](#the-two-models) has both lists, with the rules of each principle, and says
plainly where there is none.

An **error** harms others, or does not do its work. A **warning** works until something
happens. An **info** is a habit that helps. A rule may find something milder or graver than
what it mostly finds. Of what could not be read nothing is found: it is not decided.
`)
	for _, c := range check.Categories() {
		fmt.Fprintf(&b, "\n## %s\n\n| rule | severity | looks at | what holds |\n|---|---|---|---|\n", guidelinesTitle(c))
		for i := range rules {
			if r := &rules[i]; r.Category == c {
				fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", r.ID, r.ID, r.Severity, guidelinesScope(r), strings.ReplaceAll(guidelinesWords(r.Title), "|", `\|`))
			}
		}
		for i := range rules {
			if rules[i].Category == c {
				guidelinesRule(&b, &rules[i])
			}
		}
	}
	b.WriteString("\n## The two models\n")
	by := guidelinesBy(rules)
	model := ""
	for _, g := range allGuidelines() {
		if g.Model != model {
			model = g.Model
			fmt.Fprintf(&b, "\n### %s (%d)\n\n| | principle | rules |\n|---|---|---|\n", model, g.Year)
		}
		var ids []string
		for _, r := range by[g.String()] {
			id := fmt.Sprintf("[%s](#%s)", r.ID, r.ID)
			if r.Uncheckable != "" {
				id += " (cannot be checked)"
			}
			ids = append(ids, id)
		}
		asked := strings.Join(ids, ", ")
		if asked == "" {
			asked = "none. " + guidelinesUnasked()[g.String()]
		}
		fmt.Fprintf(&b, "| %d | %s | %s |\n", g.Number, g.Principle, asked)
	}
	return b.String()
}

func guidelinesTitle(c check.Category) string {
	if c == check.CoreOS {
		return "Principles of CoreOS"
	}
	return guidelinesCapital(string(c))
}

func guidelinesScope(r *check.Rule) string {
	if r.Uncheckable != "" {
		return "(cannot be checked)"
	}
	return string(r.Scope())
}

func guidelinesRule(b *strings.Builder, r *check.Rule) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n\n", r.ID, guidelinesSentence(r.Title))
	if r.Why != "" {
		fmt.Fprintf(b, "Why: %s\n\n", guidelinesSentence(r.Why))
	}
	if r.Uncheckable != "" {
		fmt.Fprintf(b, "It cannot be checked: %s\n\n", guidelinesEnd(guidelinesWords(r.Uncheckable)))
	}
	if r.Fix != "" {
		fmt.Fprintf(b, "How to fix: %s\n\n", guidelinesSentence(r.Fix))
	}
	for _, g := range r.Guidelines {
		fmt.Fprintf(b, "- %s\n", g)
	}
}

// guidelinesSentence is a text with a capital and a full stop.
func guidelinesSentence(text string) string {
	return guidelinesEnd(guidelinesCapital(guidelinesWords(text)))
}

func guidelinesCapital(text string) string {
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[n:]
}

func guidelinesEnd(text string) string {
	if strings.HasSuffix(text, ".") {
		return text
	}
	return text + "."
}

// guidelinesWords escapes what Markdown would take for its own.
func guidelinesWords(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`).Replace(text)
}
