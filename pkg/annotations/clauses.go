package annotations

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

// clauses are the three parts of a relationship. An absent part is empty and located at the end of
// the text.
type clauses struct{ on, key, value span }

// clauses splits the annotation at its commas, and each part at its first colon: the rest may
// contain more colons. One invalid part makes the whole annotation invalid, since it may change the
// meaning of the others.
func (r *reader) clauses() (clauses, bool) {
	body, ok := r.body()
	if !ok {
		return clauses{}, false
	}
	absent := body.from(len(body.text))
	c := clauses{absent, absent, absent}
	if body.text == "" {
		r.report(body.problem("the value is empty: expected on:<Kind>, key:<key>, value:<expression>"))
		return c, false
	}
	parts, err := body.split(',')
	if err != nil {
		r.report(err)
		return c, false
	}
	for _, part := range r.limit(parts) {
		if err := r.clause(&c, part); err != nil {
			r.report(err)
			ok = false
		}
	}
	return c, ok
}

func (r *reader) clause(c *clauses, part span) *problem {
	i := strings.IndexByte(part.text, ':')
	if i < 0 {
		if part.text == "" {
			return part.problem("this part is empty: remove the comma, or add on:, key: or value:")
		}
		hint := ""
		if _, err := r.find(part.text); err == nil {
			hint = " (kinds are separated by semicolons: on:Pod;Service)"
		}
		return part.problem("%q is not a part of a relationship: expected on:, key: or value:%s", field.Shorten(part.text), hint)
	}
	var into *span
	switch name := part.to(i).trim().text; name {
	case "on":
		into = &c.on
	case "key":
		into = &c.key
	case "value":
		into = &c.value
	default:
		return part.problem("unknown part %q: expected on:, key: or value:", field.Shorten(name+":"))
	}
	if into.text != "" {
		return part.problem("a second %s: expected one", part.text[:i+1])
	}
	value, err := part.from(i + 1).trim().unquote()
	if err != nil {
		return err
	}
	if value.text == "" {
		return value.problem("the value after %s is missing", part.text[:i+1])
	}
	*into = value
	return nil
}

// need reports a part that is absent.
func (r *reader) need(part span, want string) bool {
	if part.text == "" {
		r.report(part.problem("%s is missing", want))
		return false
	}
	return true
}

func (r *reader) composition() []schema.GroupKind {
	body, ok := r.body()
	if !ok {
		return nil
	}
	var all []schema.GroupKind
	for _, k := range r.kindList(body, ',') {
		all = append(all, k.GroupKind())
	}
	return all
}

func (r *reader) usage() Usage {
	const want = "expected <configmap>.<key> or <namespace>.<configmap>.<key>"
	body, ok := r.body()
	if !ok {
		return Usage{}
	}
	parts, err := body.split('.')
	switch {
	case err != nil:
		r.report(err)
		return Usage{}
	case len(parts) != 2 && len(parts) != 3:
		r.report(body.problem("%q does not name the location of the manual: %s", field.Shorten(body.text), want))
		return Usage{}
	}
	for i, p := range parts {
		invalid := validation.IsDNS1123Subdomain(p.text)
		if i == len(parts)-1 {
			invalid = validation.IsConfigMapKey(p.text)
		}
		if len(invalid) > 0 {
			r.report(p.problem("%q cannot be a name: %s", field.Shorten(p.text), want))
			return Usage{}
		}
	}
	u := Usage{ConfigMap: parts[len(parts)-2].text, Key: parts[len(parts)-1].text}
	if len(parts) == 3 {
		u.Namespace = parts[0].text
	}
	return u
}
