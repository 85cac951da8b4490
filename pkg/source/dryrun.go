package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"path"
	"slices"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// FieldManager is the field manager of dry runs.
const FieldManager = "kubectl-sysop"

// DryRunRequest is an object for the API server to admit without storing it.
type DryRunRequest struct {
	// Resource is its served resource, in the version of Object.
	Resource object.Resource
	Object   *unstructured.Unstructured
	// Exists applies the object server-side, with force. Otherwise it is created, with strict field
	// validation: unknown fields are refused.
	Exists bool
	// New creates the object even if one of its name exists: the result is then a refusal.
	New bool
	// Manager is the field manager; FieldManager if empty. Fields that it applied before and Object
	// lacks are removed, as in a real apply.
	Manager string
}

// DryRunResult is the API server's answer to a dry run. Exactly one of Admitted, Reason and Unknown
// is set.
type DryRunResult struct {
	// Admitted is the object as it would be stored, with defaults and the changes of webhooks.
	Admitted *unstructured.Unstructured
	// Reason (Invalid, Forbidden, ...) and Message say why it was refused.
	Reason, Message string
	// Code is the HTTP status of a refusal.
	Code int
	// Unknown is why the server could not decide.
	Unknown string
}

// DryRun runs several requests at a time. Every request has dryRun=All, with which the API server
// runs all of its admission and stores nothing; there is no option to omit it. Result i is that of
// trial i. The error is a *ConnectError, or that of the context.
func (c *Cluster) DryRun(ctx context.Context, trials []DryRunRequest) ([]DryRunResult, error) {
	out := make([]DryRunResult, len(trials))
	var jobs []job
	for i := range trials {
		jobs = append(jobs, func(ctx context.Context) error {
			admitted, err := c.try(ctx, &trials[i])
			if _, gone := errors.AsType[*ConnectError](err); gone || ctx.Err() != nil {
				return err
			}
			if out[i].Admitted = admitted; err != nil {
				out[i] = triedOf(err)
			}
			return nil
		})
	}
	return out, c.run(ctx, jobs)
}

// Serves reports whether discovery has a kind in a version, and returns the versions in which it
// has the kind.
func (c *Cluster) Serves(r object.Resource) (versions []string, ok bool) {
	versions = c.discovered().versions[r.GroupKind()]
	return versions, slices.Contains(versions, r.Version)
}

func (c *Cluster) try(ctx context.Context, t *DryRunRequest) (*unstructured.Unstructured, error) {
	if !sendable(t.Object.GetName()) && t.Object.GetGenerateName() == "" || t.Resource.Namespaced && !sendable(t.Object.GetNamespace()) {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("name %q in namespace %q: not a valid name", t.Object.GetName(), t.Object.GetNamespace()))
	}
	body, err := json.Marshal(sent(t.Object))
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("it cannot be encoded as JSON: %v", err))
	}
	w := writing{accept: jsonType, query: url.Values{"dryRun": {"All"}, "fieldManager": {cmp.Or(t.Manager, FieldManager)}}, body: body}
	if neverWhole(t.Resource.GroupKind()) {
		// The response to an apply would include fields of other writers.
		w.accept += asMetadata
	}
	admitted, err := c.tryOnce(ctx, t, w)
	if err == nil && neverWhole(t.Resource.GroupKind()) {
		return sent(t.Object), nil
	}
	return admitted, err
}

// tryOnce applies an existing object, and creates a new one. Server-side apply refuses a list with
// two entries of one key, which other ways of applying accept: such an object is merged.
func (c *Cluster) tryOnce(ctx context.Context, t *DryRunRequest, w writing) (*unstructured.Unstructured, error) {
	create, apply := w, w
	create.method, create.path, create.contentType = http.MethodPost, pathOf(t.Resource, t.Object.GetNamespace(), ""), jsonType
	create.query = maps.Clone(w.query)
	create.query.Set("fieldValidation", "Strict")
	apply.method, apply.path, apply.contentType = http.MethodPatch, pathOf(t.Resource, t.Object.GetNamespace(), t.Object.GetName()), applyType
	apply.query = maps.Clone(w.query)
	apply.query.Set("force", "true")
	var admitted *unstructured.Unstructured
	var err error
	if !t.Exists {
		if admitted, err = c.write(ctx, create); t.New || !apierrors.IsAlreadyExists(err) {
			return admitted, err
		}
	}
	if admitted, err = c.write(ctx, apply); err != nil && duplicate.MatchString(err.Error()) {
		merge := create
		merge.method, merge.path, merge.contentType = apply.method, apply.path, mergeType
		return c.write(ctx, merge)
	}
	return admitted, err
}

// writing is a request that would write without dryRun.
type writing struct {
	method, path, contentType, accept string
	query                             url.Values
	body                              []byte
}

const (
	applyType = "application/apply-patch+yaml"
	mergeType = "application/merge-patch+json"
)

// sent returns the object for the request, without the fields that a server sets and that manifests
// read from a server have.
func sent(o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	for _, field := range []string{"managedFields", "uid", "creationTimestamp", "generation", "selfLink"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	if o.GetGenerateName() != "" {
		unstructured.RemoveNestedField(o.Object, "metadata", "name")
	}
	return o
}

// write sends a request as a dry run, with retries: nothing is written, so it is safe to repeat.
func (c *Cluster) write(ctx context.Context, w writing) (*unstructured.Unstructured, error) {
	var waited time.Duration
	for try := 1; ; try++ {
		got, fail := c.writeOnce(ctx, w)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case fail.err == nil:
			var fields map[string]any
			if err := utiljson.Unmarshal(got, &fields); err != nil || fields == nil {
				return nil, fmt.Errorf("the response is not an object: %w", jsonError(err))
			}
			u := &unstructured.Unstructured{Object: fields}
			u.SetManagedFields(nil)
			return u, nil
		}
		wait, again := fail.retryAfter(try)
		// The server reports a list that cannot be applied as an internal error.
		if !again || waited+wait > requestTimeout || duplicate.MatchString(fail.err.Error()) {
			return nil, c.final(fail)
		}
		waited += wait
		if err := c.pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func (c *Cluster) writeOnce(ctx context.Context, w writing) ([]byte, failure) {
	var connected atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	u := *c.base
	u.Path, u.RawQuery = path.Join("/", u.Path, w.path), w.query.Encode()
	req, err := http.NewRequestWithContext(ctx, w.method, u.String(), bytes.NewReader(w.body))
	if err != nil {
		return nil, failure{err: err, connected: true}
	}
	req.Header.Set("Accept", w.accept)
	req.Header.Set("Content-Type", w.contentType)
	resp, err := c.client.Do(req)
	if err != nil {
		return nil, failure{err: err, connected: connected.Load()}
	}
	defer func() { _ = resp.Body.Close() }()
	answered, err := io.ReadAll(resp.Body)
	switch {
	case resp.StatusCode != http.StatusOK && resp.StatusCode != http.StatusCreated:
		return nil, refusal(resp, answered[:min(len(answered), 1<<20)])
	case err != nil:
		return nil, failure{connected: true, status: resp.StatusCode, err: fmt.Errorf("%w: %w", errTruncated, err)}
	}
	return answered, failure{}
}
