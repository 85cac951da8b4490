package relation

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// envHosts finds the Services that the literal environment of a container names
// as hosts. All of it is a guess: a Service of that name must be there, and the
// value is shown without what could be a secret.
func envHosts(t template, emit EmitFunc) {
	t.eachContainer(func(list string, i int, c *corev1.Container) {
		for j := range c.Env {
			e := &c.Env[j]
			if e.ValueFrom != nil || e.Value == "" {
				continue
			}
			says := variable(e.Name)
			if says == secretValue || says == otherValue {
				continue
			}
			text := e.Value
			if strings.Contains(text, "$(") {
				text = expand(text, c.Env[:j])
			}
			envHost(t, text, says == hostValue, func(namespace, svc, shown string) {
				l := to(service, namespace, svc, t.inList(list, i, "].env[", j, "].value"))
				l.Value, l.Inferred, l.Target.IfPresent = shown, true, true
				emit(l)
			})
		}
	})
}

// ServicesAt visits the Services that a text can mean which is an address: a host
// name, a URL, a list of them, a connection string. A name without a namespace is
// looked for in the one that is given. shown is the text without what could be a
// secret. Whether there is such a Service is not known here.
func ServicesAt(text, namespace string, visit func(namespace, service, shown string)) {
	envHost(template{namespace: namespace}, text, true, visit)
}

// envHost visits each Service once that the hosts of a text can mean.
func envHost(t template, text string, bare bool, visit func(namespace, service, shown string)) {
	var told [8][2]string
	n, shown := 0, ""
	hostsIn(text, bare, func(h host) {
		if !bare && !plausible(text, h) {
			return
		}
		servicesOf(h.name, t.namespace, bare || h.port != "", func(namespace, svc string) {
			if slices.Contains(told[:min(n, len(told))], [2]string{namespace, svc}) {
				return
			}
			told[n%len(told)] = [2]string{namespace, svc}
			n++
			if shown == "" {
				shown = show(text, bare)
			}
			visit(namespace, svc, shown)
		})
	})
}

// plausible says whether a host is one although nothing in the name of the
// variable says so: redis:7 is an image, and https://api.dev somebody's site.
func plausible(text string, h host) bool {
	if qualified(h.name) {
		return true
	}
	if h.port != "" && !strings.Contains(text, "://") {
		const lowest = 80 // Below it, versions are more common than ports.
		port, err := strconv.Atoi(h.port)
		return err == nil && port >= lowest
	}
	return h.port != "" || strings.IndexByte(h.name, '.') < 0 || !strings.Contains(text, "https://")
}

// show writes the hosts of a text again, and nothing else of it: no user, no
// password, no query. Where that leaves nothing out, it is the text itself.
func show(text string, bare bool) string {
	size := -len(",")
	hostsIn(text, bare, func(h host) { size += len(",") + h.size() })
	if size == len(text) {
		return text
	}
	var b strings.Builder
	b.Grow(size)
	hostsIn(text, bare, func(h host) {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		h.write(&b)
	})
	return b.String()
}

// expand puts the values of variables that were defined before in the place of
// $(NAME), as the kubelet does, from the literal ones only. What it does not
// know, or what by its name is a secret, stays and is no host.
func expand(text string, before []corev1.EnvVar) string {
	budget := 32 // Variables can nest so that the text doubles at each.
	return expandWithin(text, before, &budget)
}

func expandWithin(text string, before []corev1.EnvVar, budget *int) string {
	var b strings.Builder
	for b.Len() < maxText {
		head, rest, ok := strings.Cut(text, "$(")
		name, tail, closed := strings.Cut(rest, ")")
		if *budget--; !ok || !closed || *budget < 0 {
			break
		}
		b.WriteString(head)
		text = tail
		if i := literal(name, before); i >= 0 && !strings.HasSuffix(head, "$") {
			b.WriteString(expandWithin(before[i].Value, before[:i], budget))
		} else {
			b.WriteString("$(" + name + ")")
		}
	}
	b.WriteString(text)
	return b.String()
}

// literal returns the last definition of a variable, if it is a literal.
func literal(name string, env []corev1.EnvVar) int {
	for i, e := range slices.Backward(env) {
		if e.Name == name {
			if e.ValueFrom != nil || variable(name) == secretValue {
				return -1
			}
			return i
		}
	}
	return -1
}
