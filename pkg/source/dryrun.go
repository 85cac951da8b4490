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

// FieldManager is who dry runs are of.
const FieldManager = "kubectl-sysop"

// DryRunRequest is an object that the API server is asked to admit, and not to keep.
type DryRunRequest struct {
	// Resource is how it is served, in the version in which Object is written.
	Resource object.Resource
	Object   *unstructured.Unstructured
	// Exists says that there is one of this name: then it is applied (server-side, and
	// fields that others manage are taken over), and otherwise created, strictly: a field
	// that nobody knows is refused.
	Exists bool
	// New says that it is created even where there is one of its name: the answer is then a
	// refusal.
	New bool
	// Manager is who would write it; FieldManager where that is empty. What that manager
	// applied before and Object lacks is taken away, as it will be.
	Manager string
}

// DryRunResult is what the API server said of a trial. Exactly one of Admitted, Reason and
// Undecided is set.
type DryRunResult struct {
	// Admitted is the object as it would be kept, with its defaults and what webhooks did.
	Admitted *unstructured.Unstructured
	// Reason (Invalid, Forbidden, ...) and Message say why it was refused.
	Reason, Message string
	// Code is the HTTP status of a refusal.
	Code int
	// Unknown says why the server could not tell.
	Unknown string
}

// DryRun tries objects, several at a time. Every request says dryRun=All, with which the
// API server runs all of its admission and keeps nothing; there is no way here to leave it
// out. What was said of trial i is at i. There is an error where there is no way to the
// server (*ConnectError), or the context ended.
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

// Serves says whether the API server has a kind in a version, as discovery tells, and in
// which it has it.
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
		// The answer to an apply would have what others wrote into it.
		w.accept += asMetadata
	}
	admitted, err := c.tryOnce(ctx, t, w)
	if err == nil && neverWhole(t.Resource.GroupKind()) {
		return sent(t.Object), nil
	}
	return admitted, err
}

// tryOnce applies what is there, and creates what is not. A list with two entries of one
// key is nothing that can be applied server-side, and other ways of applying take it: such
// an object is merged.
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

// writing is a request that would write, were it not a dry run.
type writing struct {
	method, path, contentType, accept string
	query                             url.Values
	body                              []byte
}

const (
	applyType = "application/apply-patch+yaml"
	mergeType = "application/merge-patch+json"
)

// sent is the object as it goes to the server: without what the server says of objects
// that it has, which is in manifests that were read from one.
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

// write sends a request that would write, as a dry run, after as many tries as it takes:
// since nothing is written, it may be sent again.
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
		// The server calls a list that cannot be applied an error of its own.
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
		return nil, failure{connected: true, status: resp.StatusCode, after: retryAfter(resp.Header), err: refusal(resp, answered[:min(len(answered), 1<<20)])}
	case err != nil:
		return nil, failure{connected: true, status: resp.StatusCode, err: fmt.Errorf("%w: %w", errTruncated, err)}
	}
	return answered, failure{}
}
