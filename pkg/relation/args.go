package relation

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// argHosts finds the Services that the command line of a container names as hosts. The name of a
// flag classifies its value as the name of a variable does. A word without a flag is a host only if
// it looks like one.
func argHosts(t template, emit EmitFunc) {
	t.eachContainer(func(list string, i int, c *corev1.Container) {
		line := commandLine{template: t, env: c.Env}
		read := func(words []string, inner string) {
			var j int // one closure for all words saves an allocation for each
			visit := func(namespace, svc, shown string) {
				l := to(service, namespace, svc, t.inList(list, i, inner, j, "]"))
				l.Value, l.Inferred, l.Target.IfPresent = shown, true, true
				emit(l)
			}
			for j = range words {
				line.read(words[j], visit)
			}
		}
		read(c.Command, "].command[")
		read(c.Args, "].args[") // args may hold the value of a flag in command
	})
}

// commandLine reads the words of a command in order.
type commandLine struct {
	template
	env  []corev1.EnvVar
	flag string // the previous word, if the next one may be its value
}

// read visits the Services that the hosts in a word may be.
func (c *commandLine) read(word string, visit func(namespace, service, shown string)) {
	flag := c.flag
	c.flag = ""
	if strings.Contains(word, "$(") {
		word = expand(word, c.env)
	}
	text := word
	says, named := anyValue, false
	switch {
	case strings.HasPrefix(word, "-"):
		flag, text, named = strings.Cut(strings.TrimLeft(word, "-"), "=")
		if !named {
			if len(flag) > 1 { // -h is ambiguous
				c.flag = flag
			}
			return
		}
		says = flagMeaning(flag)
	case flag != "":
		says = flagMeaning(flag)
	}
	if says == anyValue && !spaced(trim(text)) {
		if key, val, pair := strings.Cut(text, "="); pair && isVariable(key) {
			says, text, named = variable(key), val, true
		}
	}
	if says == secretValue || says == otherValue {
		return
	}
	found := false
	envHost(c.template, text, says == hostValue, func(namespace, svc, shown string) {
		found = true
		visit(namespace, svc, shown)
	})
	if !found && !named && says == anyValue && spaced(trim(text)) {
		c.script(text, visit)
	}
}

// flagMeaning classifies the value of a flag by its name. A bare --service is usually the program's
// own name.
func flagMeaning(flag string) meaning {
	if flag == "service" || flag == "svc" {
		return anyValue
	}
	return variable(flag)
}

// isVariable reports whether s may be the name of a variable or of a setting.
func isVariable(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && !isDigit(c) && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return s != "" && !isDigit(s[0])
}

// script finds the hosts in the text of a shell script. It does not parse the script: a word counts
// only if it is a URL or a name qualified by svc, and neither in a comment nor in printed text.
func (c *commandLine) script(text string, visit func(namespace, service, shown string)) {
	const longest = 4 * maxText
	if len(text) > longest {
		return
	}
	var seen [][2]string
	emitOnce := func(namespace, svc, shown string) {
		if at := [2]string{namespace, svc}; !slices.Contains(seen, at) {
			seen = append(seen, at)
			visit(namespace, svc, shown)
		}
	}
	for line := range strings.Lines(text) {
		talk := false
		for word := range strings.FieldsSeq(line) {
			if word[0] == '#' {
				break
			}
			w := strings.Trim(word, "\"'`();&|")
			talk = talk || w == "echo" || w == "printf"
			if !talk && (isURL(w) || isQualified(w)) {
				envHost(c.template, w, false, emitOnce)
			}
			if end := word[len(word)-1]; end == ';' || end == '|' || end == '&' {
				talk = false
			}
		}
	}
}

// isURL says whether a word begins as a URL does.
func isURL(word string) bool {
	mark, start := nextURL(word, 0)
	return mark > 0 && start == 0
}

// isQualified says whether a word is the name of a Service with svc in it, and at
// most a port.
func isQualified(word string) bool {
	name, port, ok := strings.Cut(word, ":")
	return (!ok || number(port)) && isHostName(name) && qualified(name)
}
