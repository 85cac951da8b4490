package system

import (
	"strconv"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Connection is a value of one app that is used by another one: To needs From.
type Connection struct {
	From, To End
	Line     int
}

// End is the source or the target of a connection. A source is a field or a port, a target a field,
// a variable or a key of a ConfigMap.
type End struct {
	App string
	// Root chooses among several of the app; the first one that fits where it is zero.
	Root Root
	Path string // status.endpoint

	// Port is a port of the app by name or number. Value says what of its address is used.
	Port  string
	Value Address

	// Env is a variable of the containers of a workload, of one of them if Container is set.
	Env, Container string
	// ConfigMap and Key name an entry of a ConfigMap of the app.
	ConfigMap, Key string
}

// Address is the part of an address that a connection passes on.
type Address string

// The parts.
const (
	Host        Address = "host"    // the name of the Service: db-mysql, db-mysql.shop.svc
	PortNumber  Address = "port"    // 3306
	HostAndPort Address = "address" // db-mysql:3306
)

// String describes an end without its app: host of port mysql, variable DB_HOST, status.endpoint.
func (e End) String() string {
	switch {
	case e.Port != "":
		return string(e.Value) + " of port " + e.Port
	case e.Env != "" && e.Container != "":
		return "variable " + e.Env + " of container " + e.Container
	case e.Env != "":
		return "variable " + e.Env
	case e.ConfigMap != "":
		return "key " + e.Key + " of ConfigMap " + e.ConfigMap
	}
	return e.Path
}

// target identifies what a connection sets in its app.
func (e End) target() End {
	e.Root = Root{}
	return e
}

func (r *reader) connection(s scope, n *yaml.Node) {
	c := Connection{Line: n.Line}
	s.mapping(n,
		key{"from", true, func(s scope, n *yaml.Node) { c.From = r.source(s, n) }},
		key{"to", true, func(s scope, n *yaml.Node) { c.To = r.target(s, n) }},
	)
	if c.From.App != "" && c.From.App == c.To.App {
		s.report(n, "%s cannot need itself: from and to are the same app", c.From.App)
	}
	for _, o := range r.sys.Connections {
		if c.To.App != "" && c.To.String() != "" && o.To.target() == c.To.target() && r.sameRoot(o.To.Root, c.To.Root) {
			s.report(n, "a second value for %s of %s: the first is on line %d", field.Shorten(c.To.String()), c.To.App, o.Line)
			break
		}
	}
	r.sys.Connections = append(r.sys.Connections, c)
}

// end returns the keys that both ends have.
func (r *reader) end(e *End) []key {
	return []key{
		{"app", true, func(s scope, n *yaml.Node) { r.appName(s, n, func(name string) { e.App = name }) }},
		{"root", false, func(s scope, n *yaml.Node) { e.Root = s.root(n, false) }},
		{"path", false, func(s scope, n *yaml.Node) {
			if e.Path = s.text(n); e.Path == "" {
				return
			}
			if _, err := field.Parse(e.Path); err != nil {
				s.report(n, "%q is not a path: %v", field.Shorten(e.Path), err)
			}
		}},
	}
}

func (r *reader) source(s scope, n *yaml.Node) End {
	var e End
	s.mapping(n, append(r.end(&e),
		key{"port", false, func(s scope, n *yaml.Node) { e.Port = s.port(n) }},
		key{"value", false, func(s scope, n *yaml.Node) {
			e.Value = Address(s.word(n, string(Host), string(PortNumber), string(HostAndPort)))
		}})...)
	switch {
	case n.Kind != yaml.MappingNode:
	case has(n, "path") == has(n, "port"):
		s.report(n, "expected either path or port")
	case has(n, "value") && has(n, "path"):
		s.report(n, "value is a part of the address of a port: omit it, or write port")
	case has(n, "port") && !has(n, "value"):
		e.Value = Host
	}
	return e
}

func (r *reader) target(s scope, n *yaml.Node) End {
	var e End
	s.mapping(n, append(r.end(&e),
		key{"env", false, func(s scope, n *yaml.Node) {
			if e.Env = s.text(n); e.Env != "" && !variables.MatchString(e.Env) {
				s.report(n, "%q is not an environment variable", field.Shorten(e.Env))
			}
		}},
		key{"container", false, func(s scope, n *yaml.Node) { e.Container = s.name(n) }},
		key{"configMap", false, func(s scope, n *yaml.Node) { e.ConfigMap = s.objectName(n) }},
		key{"key", false, func(s scope, n *yaml.Node) {
			if e.Key = s.text(n); e.Key != "" && len(validation.IsConfigMapKey(e.Key)) > 0 {
				s.report(n, "%q is not a key of a ConfigMap", field.Shorten(e.Key))
			}
		}})...)
	targets := 0
	for _, name := range []string{"path", "env", "configMap"} {
		if has(n, name) {
			targets++
		}
	}
	switch {
	case n.Kind != yaml.MappingNode:
	case targets != 1:
		s.report(n, "expected either path, env or configMap")
	case has(n, "container") && !has(n, "env"):
		s.report(n, "container chooses where a variable is set: write env, or omit it")
	case has(n, "configMap") != has(n, "key"):
		s.report(n, "a ConfigMap and its key go together: expected configMap and key")
	case has(n, "configMap") && has(n, "root"):
		s.report(n, "configMap names the object: omit root")
	}
	return e
}

// port reads the name or the number of a port.
func (s scope) port(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" {
		text := s.text(n)
		if number, err := strconv.Atoi(text); err == nil && number > 0 && number <= 65535 && strconv.Itoa(number) == text {
			return text
		}
		if text != "" && len(validation.IsDNS1123Label(text)) > 0 {
			s.report(n, "%q is not a port: expected a name such as http, or a number from 1 to 65535", field.Shorten(text))
			return ""
		}
		return text
	}
	number := s.count(n)
	if number < 1 || number > 65535 {
		s.report(n, "%s is not a port: expected a number from 1 to 65535", field.Shorten(n.Value))
		return ""
	}
	return strconv.Itoa(number)
}

func endNode(e End) *yaml.Node {
	return strict.Pairs{}.Text("app", e.App).Text("root", e.Root.String()).Text("path", e.Path).
		Text("port", e.Port).Text("value", string(e.Value)).
		Text("env", e.Env).Text("container", e.Container).Text("configMap", e.ConfigMap).Text("key", e.Key).Node()
}
