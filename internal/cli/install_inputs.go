package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-sysop/kubectl-sysop/internal/install"
)

// inputs refuses a System whose inputs are missing.
func (p *installPlan) inputs(ctx context.Context) error {
	if p.sys == nil {
		return nil
	}
	for _, in := range p.sys.Inputs {
		kind, name := "Secret", in.Secret
		if in.ConfigMap != "" {
			kind, name = "ConfigMap", in.ConfigMap
		}
		namespace := cmp.Or(in.Namespace, p.sys.Namespace)
		missing, err := p.input(ctx, kind, namespace, name, in.Keys)
		if err != nil {
			return err
		}
		if missing == "" {
			continue
		}
		secretType := strings.ToLower(kind)
		if kind == "Secret" {
			secretType += " generic"
		}
		hint := []string{fmt.Sprintf("kubectl create %s %s -n %s", secretType, name, namespace)}
		for _, k := range in.Keys {
			hint = append(hint, "--from-literal="+k+"=...")
		}
		message := fmt.Sprintf("the input %s/%s/%s %s", kind, namespace, name, missing)
		if in.Description != "" {
			message += " (" + in.Description + ")"
		}
		p.planned.Refusals = append(p.planned.Refusals, install.Refusal{Topic: "start", Message: message, Hint: strings.Join(hint, " ")})
	}
	return nil
}

// input says what is missing of an input; nothing of what it holds is kept.
func (p *installPlan) input(ctx context.Context, kind, namespace, name string, keys []string) (string, error) {
	r, ok := p.cluster.Kinds.Kind(schema.GroupKind{Kind: kind})
	if !ok {
		return "has a kind that is not served", nil
	}
	o, err := p.cluster.reader.Get(ctx, r, namespace, name)
	switch {
	case apierrors.IsNotFound(err):
		return "does not exist", nil
	case apierrors.IsForbidden(err):
		return "may not be read: existence unknown", nil
	case err != nil:
		return "", fmt.Errorf("read %s %s/%s: %w", kind, namespace, name, err)
	}
	var lacks []string
	for _, k := range keys {
		_, text, _ := unstructured.NestedFieldNoCopy(o.Object, "data", k)
		_, binary, _ := unstructured.NestedFieldNoCopy(o.Object, "binaryData", k)
		if !text && !binary {
			lacks = append(lacks, k)
		}
	}
	if len(lacks) > 0 {
		return "lacks the keys " + strings.Join(lacks, ", "), nil
	}
	return "", nil
}
