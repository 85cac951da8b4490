package system

import (
	"net/url"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/internal/lazyregexp"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

var (
	// variables are names of the environment, headers are names of HTTP.
	variables = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headers   = lazyregexp.New(`^[A-Za-z0-9-]+$`)
)

func (s scope) http(n *yaml.Node) *HTTP {
	h := &HTTP{}
	s.mapping(n,
		key{"url", true, func(s scope, n *yaml.Node) {
			h.URL = s.line(n)
			u, err := url.Parse(h.URL)
			switch {
			case h.URL == "":
			case err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "":
				s.report(n, "this is not an address: expected one such as https://hooks.example.com/hold") // which may have a token in it
			case u.User != nil:
				s.report(n, "it contains a password: requests are signed with the key of secret instead")
			}
		}},
		key{"secret", false, func(s scope, n *yaml.Node) {
			s.mapping(n,
				key{"name", true, func(s scope, n *yaml.Node) {
					h.SecretName = s.text(n)
					if problems := validation.IsDNS1123Subdomain(h.SecretName); len(problems) > 0 && h.SecretName != "" {
						s.report(n, "%q is not a Secret name", field.Shorten(h.SecretName))
					}
				}},
				key{"key", true, func(s scope, n *yaml.Node) {
					h.SecretKey = s.text(n)
					if problems := validation.IsConfigMapKey(h.SecretKey); len(problems) > 0 && h.SecretKey != "" {
						s.report(n, "%q is not a Secret key", field.Shorten(h.SecretKey))
					}
				}})
		}},
		key{"secretEnv", false, func(s scope, n *yaml.Node) {
			h.SecretEnv = s.text(n)
			if h.SecretEnv != "" && !variables.MatchString(h.SecretEnv) {
				s.report(n, "%q is not an environment variable", field.Shorten(h.SecretEnv))
			}
		}},
		key{"headers", false, func(s scope, n *yaml.Node) {
			h.Headers = map[string]string{}
			s.entries(n, func(s scope, name string, k, v *yaml.Node) {
				if !headers.MatchString(name) {
					s.report(k, "%q is not a header name", field.Shorten(name))
				}
				h.Headers[name] = s.line(v)
			})
		}},
	)
	switch secret, env := has(n, "secret"), has(n, "secretEnv"); {
	case secret && env:
		s.report(n, "secret and secretEnv are both keys to sign with: expected one")
	case !secret && !env && n.Kind == yaml.MappingNode:
		s.report(n, "requests are signed: expected secret {name, key}, or secretEnv with a variable that holds the key")
	}
	return h
}

func (s scope) exec(n *yaml.Node) *Exec {
	e := &Exec{}
	s.mapping(n,
		key{"command", true, func(s scope, n *yaml.Node) {
			s.list(n, func(s scope, n *yaml.Node) {
				text, ok := s.string(n)
				if ok && text == "" && len(e.Command) == 0 {
					s.report(n, "the string is empty: expected a command")
				}
				e.Command = append(e.Command, text)
			})
		}},
		key{"env", false, func(s scope, n *yaml.Node) {
			e.Env = map[string]string{}
			s.entries(n, func(s scope, name string, k, v *yaml.Node) {
				if !variables.MatchString(name) {
					s.report(k, "%q is not an environment variable", field.Shorten(name))
				}
				e.Env[name], _ = s.string(v)
			})
		}},
	)
	return e
}
