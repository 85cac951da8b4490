package relation

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// envHosts finds the Services that the literal environment of a container names as hosts. All of it
// is inferred: a Service of that name must exist, and the shown value omits what may be a secret.
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

// ServicesAt visits the Services that an address may refer to: a host name, a URL, a list of them,
// or a connection string. namespace is the default of a name without one. shown is the text without
// what may be a secret. ServicesAt does not check that the Service exists.
func ServicesAt(text, namespace string, visit func(namespace, service, shown string)) {
	envHost(template{namespace: namespace}, text, true, visit)
}

// envHost visits each Service that the hosts in a text may be, once.
func envHost(t template, text string, bare bool, visit func(namespace, service, shown string)) {
	var seen [8][2]string
	n, shown := 0, ""
	hostsIn(text, bare, func(h host) {
		if !bare && !plausible(text, h) {
			return
		}
		servicesOf(h.name, t.namespace, bare || h.port != "", func(namespace, svc string) {
			if slices.Contains(seen[:min(n, len(seen))], [2]string{namespace, svc}) {
				return
			}
			seen[n%len(seen)] = [2]string{namespace, svc}
			n++
			if shown == "" {
				shown = show(text, bare)
			}
			visit(namespace, svc, shown)
		})
	})
}

// plausible reports whether a text is a host although the name of the variable does not say so:
// redis:7 is an image, and https://api.dev is a site outside the cluster.
func plausible(text string, h host) bool {
	if qualified(h.name) {
		return true
	}
	if h.port != "" && !strings.Contains(text, "://") {
		const lowest = 80 // lower numbers are more often versions than ports
		port, err := strconv.Atoi(h.port)
		return err == nil && port >= lowest
	}
	return h.port != "" || strings.IndexByte(h.name, '.') < 0 || !strings.Contains(strings.ToLower(text), "https://")
}

// show formats the hosts of a text without user, password and query. It returns the text itself if
// that omits nothing.
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

// expand substitutes $(NAME) by earlier variables, as the kubelet does, from literal values only.
// An unknown variable, or one whose name suggests a secret, stays unexpanded and is no host.
func expand(text string, before []corev1.EnvVar) string {
	budget := 32 // nested variables can double the text at each level
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

// literal returns the index of the last definition of a variable, if it is a literal.
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
