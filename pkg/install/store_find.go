package install

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/regulate"
)

// Found is a journal that was found, or why it could not be read.
type Found struct {
	Installation Installation
	Journal      *Journal
	Err          error
}

// Touches are the releases that the run of a journal, which is not ended, touches: nobody
// else should meanwhile.
func (f Found) Touches() []ReleaseName {
	if f.Journal == nil || f.Journal.Run == nil {
		return nil
	}
	var out []ReleaseName
	for _, s := range f.Journal.Run.Steps {
		if name := (ReleaseName{s.Release, s.Namespace}); s.ofRelease() && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Installations returns all journals: of all namespaces where that is allowed, else of those
// that are given. Whole says that it was.
func Installations(ctx context.Context, config *rest.Config, namespaces []string) (found []Found, whole bool, err error) {
	client, err := dynamic.NewForConfig(regulate.Quiet(config))
	if err != nil {
		return nil, false, fmt.Errorf("reach the journals: %w", err)
	}
	return installations(ctx, client, namespaces)
}

func installations(ctx context.Context, client dynamic.Interface, namespaces []string) (found []Found, whole bool, err error) {
	of := client.Resource(configMapResource)
	list, err := journalsIn(ctx, of)
	if err == nil {
		return list, true, nil
	}
	if !apierrors.IsForbidden(err) {
		return nil, false, fmt.Errorf("list the journals of installations: %w", err)
	}
	for _, ns := range namespaces {
		list, err := journalsIn(ctx, of.Namespace(ns))
		if err != nil {
			return nil, false, fmt.Errorf("list the journals of installations in %s: %w", ns, err)
		}
		found = append(found, list...)
	}
	return found, false, nil
}

// Unfinished returns the journals whose run is not ended, and those that cannot be read.
func Unfinished(ctx context.Context, config *rest.Config, namespaces []string) ([]Found, error) {
	list, _, err := Installations(ctx, config, namespaces)
	return slices.DeleteFunc(list, func(f Found) bool { return f.Err == nil && f.Journal.Run == nil }), err
}

func journalsIn(ctx context.Context, of dynamic.ResourceInterface) ([]Found, error) {
	var list *unstructured.UnstructuredList
	err := regulate.Persist(ctx, storePatience, func(ctx context.Context) (err error) {
		list, err = of.List(ctx, metav1.ListOptions{LabelSelector: managedLabel + "=" + managedBy + "," + InstallLabel + ",!" + keptLabel})
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []Found
	for _, u := range list.Items {
		name, ok := strings.CutPrefix(u.GetName(), keptPrefix)
		if !ok || name != u.GetLabels()[InstallLabel] {
			continue
		}
		f := Found{Installation: Installation{Name: name, Namespace: u.GetNamespace()}}
		o := new(corev1.ConfigMap)
		if f.Err = runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, o); f.Err == nil {
			f.Journal, f.Err = decodeJournal(o)
		}
		if f.Err != nil {
			f.Err = unreadable(f.Installation, f.Err)
		} else {
			f.Installation = f.Journal.Installation
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Installation.Namespace, b.Installation.Namespace), cmp.Compare(a.Installation.Name, b.Installation.Name))
	})
	return out, nil
}
