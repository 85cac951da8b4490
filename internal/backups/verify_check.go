package backups

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"
)

const (
	// checkTimeout bounds a check that names no timeout.
	checkTimeout = 5 * time.Minute
	// checkName is the name of the Job of a check.
	checkName = "sysop-verify"
	// maxOutput is how many bytes of the output of a command are kept.
	maxOutput = 2 << 10
)

var jobs = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}

// check runs the check of the System on the copy.
func (h *Rehearsal) check(ctx context.Context) error {
	timeout := h.Check.Timeout
	if timeout == 0 {
		timeout = checkTimeout
	}
	bounded, stop := context.WithTimeout(ctx, timeout)
	defer stop()
	var err error
	switch c := h.Check; {
	case c.Job != nil:
		err = h.runJob(bounded, c.Job)
	case c.HTTP != nil:
		err = h.probe(bounded, c.HTTP)
	default:
		err = h.command(bounded, c.Exec)
	}
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case bounded.Err() != nil:
		return fmt.Errorf("the check did not pass within %s: %w", timeout, err)
	}
	return fmt.Errorf("the check failed: %w", err)
}

// runJob runs a Job in the namespace of the copy to its end.
func (h *Rehearsal) runJob(ctx context.Context, j *system.Job) error {
	body := (&unstructured.Unstructured{Object: j.Template}).DeepCopy().Object
	if body["kind"] == nil && body["spec"] == nil {
		body = map[string]any{"spec": body}
	}
	job := &unstructured.Unstructured{Object: body}
	job.SetAPIVersion("batch/v1")
	job.SetKind("Job")
	job.SetName(checkName)
	job.SetNamespace(h.Namespaces[0])
	client := h.Objects.Resource(jobs).Namespace(h.Namespaces[0])
	if _, err := client.Create(ctx, job, metav1.CreateOptions{FieldManager: verifyManager}); err != nil {
		return fmt.Errorf("create its Job: %w", err)
	}
	for {
		o, err := client.Get(ctx, checkName, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("read its Job: %w", err)
		}
		if done, err := jobEnd(o); done || err != nil {
			return err
		}
		if err := wait(ctx); err != nil {
			return errors.New("its Job is not complete")
		}
	}
}

// jobEnd says whether a Job has ended; an error says that it failed.
func jobEnd(o *unstructured.Unstructured) (bool, error) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		switch {
		case m["status"] != "True":
		case m["type"] == "Complete":
			return true, nil
		case m["type"] == "Failed":
			return true, fmt.Errorf("its Job failed: %v: %v", m["reason"], m["message"])
		}
	}
	return false, nil
}

// probe asks a Service of the copy through the API server until it answers with 2xx. What it answers
// may be secret: only the status is reported.
func (h *Rehearsal) probe(ctx context.Context, p *system.Probe) error {
	client, err := rest.HTTPClientFor(h.Config)
	if err != nil {
		return err
	}
	base, _, err := rest.DefaultServerUrlFor(h.Config)
	if err != nil {
		return err
	}
	path, query, _ := strings.Cut(p.Path, "?")
	u := base.JoinPath("api", "v1", "namespaces", h.Namespaces[0], "services", p.Service+":"+p.Port, "proxy", path)
	u.RawQuery = query
	for {
		err := get(ctx, client, u)
		if err == nil || apierrors.IsForbidden(err) {
			return err
		}
		if wait(ctx) != nil {
			return fmt.Errorf("GET %s of the Service %s: %w", path, p.Service, err)
		}
	}
}

func get(ctx context.Context, client *http.Client, u *url.URL) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxOutput))
	_ = res.Body.Close()
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("it answered %s", res.Status)
	}
	return nil
}

// command runs a command on this machine. Its output may be secret: it is no part of the error.
func (h *Rehearsal) command(ctx context.Context, e *system.Exec) error {
	c := exec.CommandContext(ctx, e.Command[0], e.Command[1:]...) //nolint:gosec // the manifest names it, and --allow-exec allows it
	c.Env = append(os.Environ(), "SYSOP_NAMESPACE="+h.Namespaces[0], "SYSOP_BACKUP="+h.Plan.Name)
	for _, key := range slices.Sorted(maps.Keys(e.Env)) {
		c.Env = append(c.Env, key+"="+e.Env[key])
	}
	c.WaitDelay = 2 * time.Second
	output, err := c.CombinedOutput()
	if text := strings.TrimSpace(string(output)); text != "" && h.Output != nil {
		h.Output(strings.ToValidUTF8(text[max(0, len(text)-maxOutput):], ""))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.Command[0], err)
	}
	return nil
}

// wait waits until a state is read again; an error says that the time is over.
func wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pollInterval):
		return nil
	}
}
