package regulate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/patch"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/system"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// jobTarget names the Job of an operation. The name is derived from the operation, so that after
// a kill the same Job is found and no second one runs.
func (x *run) jobTarget(it *item, act *system.Action) (Target, error) {
	h, o := it.w.hold, it.op
	kind := ""
	switch {
	case o.OnRecover:
		kind = "-after"
	case it.back:
		kind = "-inverse"
	}
	full := fmt.Sprintf("%s/%s/%s/%d/%d%s", x.j.Namespace, x.j.System, h.App, h.ID, o.Index, kind)
	sum := sha256.Sum256([]byte(full))
	prefix := fmt.Sprintf("sysop-%s-%s", x.j.System, h.App)
	prefix = prefix[:min(len(prefix), 46)] // 63 with what follows
	t := Target{APIVersion: "batch/v1", Kind: "Job", Resource: "jobs", Name: fmt.Sprintf("%s-%d-%s", prefix, h.ID, hex.EncodeToString(sum[:4]))}
	ns, _, _ := unstructured.NestedString(act.Job.Template, "metadata", "namespace")
	t.Namespace = cmp.Or(ns, x.j.Namespace, x.System.Namespace)
	if t.Namespace == "" {
		return t, permanent("job of %s: neither the template nor the System names a namespace", h.App)
	}
	return t, nil
}

// jobOf creates the Job of a template, which is a whole Job or its spec.
func (x *run) jobOf(it *item, t Target, template map[string]any) (*unstructured.Unstructured, error) {
	v, err := patch.Normal(template)
	if err != nil {
		return nil, permanent("job of %s: %w", it.w.hold.App, err)
	}
	body, _ := v.(map[string]any)
	if _, whole := body["kind"]; !whole {
		if _, whole = body["spec"]; !whole {
			body = map[string]any{"spec": body}
		}
	}
	o := &unstructured.Unstructured{Object: body}
	o.SetAPIVersion(t.APIVersion)
	o.SetKind(t.Kind)
	o.SetName(t.Name)
	o.SetNamespace(t.Namespace)
	labels := o.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[system.Label] = x.j.System
	o.SetLabels(labels)
	return o, nil
}

// runJob creates the Job unless it exists, and waits for its end.
func (x *run) runJob(ctx context.Context, it *item, act *system.Action, timeout time.Duration) (string, error) {
	t, err := x.jobTarget(it, act)
	if err != nil {
		return "", err
	}
	if target := it.op.Target; !it.back && target.Name != "" && target.Ref() != t.Ref() {
		return "", refused(target, "the Job of this action is "+t.String())
	}
	job, err := x.jobOf(it, t, act.Job.Template)
	if err != nil {
		return "", err
	}
	err = retry(ctx, func(ctx context.Context) error {
		_, err := x.Client.Create(ctx, t, job, x.writes())
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		it.unsure = it.unsure || err != nil && !isPermanent(err)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("create %s: %w", t, err)
	}
	if x.DryRun {
		return "the Job was admitted", nil
	}
	return x.waitJob(ctx, it, t, timeout)
}

// waitJob waits until a Job has completed.
func (x *run) waitJob(ctx context.Context, it *item, t Target, timeout time.Duration) (string, error) {
	it.unsure = true
	done, err := x.poll(ctx, t, timeout, func(o *unstructured.Unstructured) (bool, error) {
		if o.GetLabels()[system.Label] != x.j.System {
			return false, permanent("%s does not belong to this System; delete it, or use another name", t)
		}
		if !it.back {
			it.op.Target.UID = string(o.GetUID())
		}
		done, failed, reason := jobEnd(o)
		if failed {
			return false, permanent("%s failed: %s; see its pods (kubectl logs -n %s job/%s)", t, reason, t.Namespace, t.Name)
		}
		return done, nil
	})
	switch {
	case apierrors.IsNotFound(err):
		return "", permanent("%s was deleted before it finished", t)
	case isPermanent(err) || ctx.Err() != nil:
		return "", err
	case err != nil:
		return "", fmt.Errorf("wait for %s: %w", t, err)
	case !done:
		return "", permanent("%s did not finish within %s; raise its timeout, or see its pods (kubectl describe -n %s job/%s)", t, timeout, t.Namespace, t.Name)
	}
	return t.String() + " completed", nil
}

func jobEnd(o *unstructured.Unstructured) (done, failed bool, reason string) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		m, _ := c.(map[string]any)
		if m["status"] != "True" {
			continue
		}
		switch m["type"] {
		case "Complete":
			return true, false, ""
		case "Failed":
			return true, true, fmt.Sprint(m["reason"], ": ", m["message"])
		}
	}
	return false, false, ""
}

// deleteJob undoes a Job: it is deleted, which also stops it.
func (x *run) deleteJob(ctx context.Context, it *item) error {
	if it.op.Target.Name == "" {
		x.end(it, NotNeeded, "it was not created")
		return nil
	}
	switch ours, err := x.ownJob(ctx, it.op.Target); {
	case apierrors.IsNotFound(err):
		x.end(it, TargetGone, "it is gone")
		return nil
	case err != nil:
		return err
	case !ours:
		x.end(it, TargetGone, "another Job has its name")
		return nil
	}
	if err := x.deleteOne(ctx, it.op.Target); err != nil {
		return err
	}
	x.end(it, Undone, "the Job was deleted")
	return nil
}

func (x *run) deleteOne(ctx context.Context, t Target) error {
	err := retry(ctx, func(ctx context.Context) error { return x.Client.Delete(ctx, t, x.writes()) })
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s: %w", t, err)
	}
	return nil
}
