package logs

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-sysop/kubectl-sysop/internal/app"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// Limits of a PodLog in bytes: of a line, and of all.
const (
	maxPodLine = 8 << 10
	maxPodLog  = 512 << 10
)

// PodLog is the end of the log of one container of a pod, as a terminal shows it.
type PodLog struct {
	Containers []PodContainer `json:"containers"`
	// Container is the one whose log it is.
	Container string `json:"container"`
	// Lines has no control characters: they are escaped.
	Lines []string `json:"lines"`
	// Omitted counts the oldest of the requested lines, which are left out because of the size.
	Omitted int `json:"omitted"`
	// Unavailable is why there are no lines.
	Unavailable string `json:"unavailable,omitempty"`
}

// PodContainer is a container of a pod, as far as its log is concerned.
type PodContainer struct {
	Name string `json:"name"`
	// Restarted is set if the log of a previous instance exists.
	Restarted bool `json:"restarted"`
}

// ReadPod reads the last lines of a container, and without a name those of the container that kubectl
// logs takes. A log that cannot be read is a reason in the result.
func ReadPod(ctx context.Context, s *app.Session, ref object.Ref, container string, o Options) (*PodLog, error) {
	out := &PodLog{Containers: []PodContainer{}, Lines: []string{}}
	cluster := s.Cluster()
	if cluster == nil {
		out.Unavailable = "a snapshot holds no logs"
		return out, nil
	}
	fields, reason, err := s.Whole(ctx, ref)
	if err != nil {
		return nil, err
	}
	if fields == nil {
		out.Unavailable = reason
		return out, nil
	}
	pod := &corev1.Pod{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, pod); err != nil {
		return nil, fmt.Errorf("decode the pod %s in %s: %w", ref.Name, ref.Namespace, err)
	}
	all := containersOf(pod)
	for _, c := range all {
		out.Containers = append(out.Containers, PodContainer{c.Name, c.Restarted})
	}
	c := chosen(all, container, pod.Annotations["kubectl.kubernetes.io/default-container"])
	switch {
	case c == nil:
		out.Unavailable = fmt.Sprintf("the pod has no container %q", container)
		return out, nil
	case o.Previous && !c.Restarted:
		out.Unavailable = "the container was not restarted: there is no earlier log"
	case !o.Previous && c.Instance == "":
		out.Unavailable = "no log yet: it waits to start (" + c.Waiting + ")"
	}
	out.Container = c.Name
	if out.Unavailable != "" {
		return out, nil
	}
	return out, out.read(ctx, Reader{Open: clusterLogs(cluster), Max: 1, IdleTimeout: idleTimeout}, *c, o)
}

// chosen is the container of a name; without one the default container, else the first main container
// with a log, else the first of all. It is nil if there is none of this name.
func chosen(all []Container, name, byDefault string) *Container {
	var best *Container
	rank := func(c *Container) int {
		switch {
		case c.Name == byDefault:
			return 3
		case c.Role == Main && c.Instance != "":
			return 2
		case c.Instance != "":
			return 1
		}
		return 0
	}
	for i := range all {
		c := &all[i]
		if name != "" && c.Name == name {
			return c
		}
		if name == "" && (best == nil || rank(c) > rank(best)) {
			best = c
		}
	}
	return best
}

// read takes the last lines within the limits.
func (p *PodLog) read(ctx context.Context, r Reader, c Container, o Options) error {
	var text bytes.Buffer
	size, printer := 0, Printer{Out: &text, NoPrefix: true}
	notes, err := r.Read(ctx, []Container{c}, o, func(l Line) error {
		if end := maxPodLine; len(l.Text) > end {
			for !utf8.RuneStart(l.Text[end]) && end > maxPodLine-utf8.UTFMax {
				end--
			}
			l.Text, l.Cut = l.Text[:end], l.Cut+len(l.Text)-end
		}
		text.Reset()
		if err := printer.line(l); err != nil {
			return err
		}
		p.Lines = append(p.Lines, strings.TrimSuffix(text.String(), "\n"))
		for size += text.Len(); size > maxPodLog; p.Omitted++ {
			size -= len(p.Lines[0]) + 1
			p.Lines = p.Lines[1:]
		}
		return nil
	})
	for _, n := range notes {
		p.Unavailable = n.Err.Error()
		if apierrors.IsForbidden(n.Err) {
			p.Unavailable = fmt.Sprintf("cannot read logs in %s: forbidden", c.Namespace)
		}
	}
	return err
}
