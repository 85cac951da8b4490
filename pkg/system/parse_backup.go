package system

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// Backup is how backups of a system are handled.
type Backup struct {
	// Verify checks a restored copy; nil where it is enough that the copy is Healthy.
	Verify *Verify
}

// Verify is a check of a restored copy. Exactly one of the pointers is set.
type Verify struct {
	Job  *Job
	HTTP *Probe
	Exec *Exec
	// Timeout bounds the check; 0 for the default.
	Timeout time.Duration
}

// Name is the word by which a check is written in a manifest.
func (v *Verify) Name() string {
	switch {
	case v.Job != nil:
		return "job"
	case v.HTTP != nil:
		return "http"
	}
	return "exec"
}

// Probe is a GET of a Service of the copy, through the API server. A status of 2xx passes.
type Probe struct {
	Service string
	// Port is the name or the number of a port of the Service, and Path begins with a slash.
	Port, Path string
}

func (r *reader) backup(s scope, n *yaml.Node) {
	s.mapping(n, key{"verify", false, func(s scope, n *yaml.Node) { r.sys.Backup.Verify = s.verify(n) }})
}

func (s scope) verify(n *yaml.Node) *Verify {
	v := &Verify{}
	s.mapping(n,
		key{"job", false, func(s scope, n *yaml.Node) {
			v.Job = &Job{}
			s.mapping(n, key{"template", true, func(s scope, n *yaml.Node) { v.Job.Template = s.jobTemplate(n) }})
		}},
		key{"http", false, func(s scope, n *yaml.Node) { v.HTTP = s.probe(n) }},
		key{"exec", false, func(s scope, n *yaml.Node) { v.Exec = s.exec(n) }},
		key{"timeout", false, func(s scope, n *yaml.Node) { v.Timeout = s.duration(n) }},
	)
	var words []string
	for _, name := range outward() {
		if has(n, name) {
			words = append(words, name)
		}
	}
	if n.Kind == yaml.MappingNode && len(words) != 1 {
		s.report(n, "expected one of %s", strings.Join(outward(), ", "))
	}
	return v
}

func (s scope) probe(n *yaml.Node) *Probe {
	p := &Probe{Path: "/"}
	s.mapping(n,
		key{"service", true, func(s scope, n *yaml.Node) { p.Service = s.name(n) }},
		key{"port", true, func(s scope, n *yaml.Node) { p.Port = s.port(n) }},
		key{"path", false, func(s scope, n *yaml.Node) {
			if p.Path = s.line(n); p.Path != "" && !strings.HasPrefix(p.Path, "/") {
				s.report(n, "%q is not a path: it begins with /", field.Shorten(p.Path))
			}
		}},
	)
	return p
}

func backupNode(b *Backup) *yaml.Node {
	v := b.Verify
	if v == nil {
		return nil
	}
	f := strict.Pairs{}
	if v.Job != nil {
		f = f.Put("job", jobNode(v.Job))
	}
	if p := v.HTTP; p != nil {
		f = f.Put("http", portNode(strict.Pairs{}.Text("service", p.Service), p.Port).Text("path", p.Path).Node())
	}
	if v.Exec != nil {
		f = f.Put("exec", execNode(v.Exec))
	}
	if v.Timeout != 0 {
		f = f.Put("timeout", durationNode(v.Timeout))
	}
	return strict.Pairs{}.Put("verify", f.Node()).Node()
}
