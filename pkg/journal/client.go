package journal

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// Quiet is the config of what must not wait in a queue of this process behind other
// requests, and whose warnings are no user's business.
func Quiet(config *rest.Config) *rest.Config {
	c := rest.CopyConfig(config)
	c.QPS, c.WarningHandler = -1, rest.NoWarnings{}
	return c
}

// Unstructured is a typed object of k8s.io/api as the dynamic client takes it.
func Unstructured(o any) *unstructured.Unstructured {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // a type of k8s.io/api always does
	}
	u := new(unstructured.Unstructured)
	if err := u.UnmarshalJSON(text); err != nil {
		panic(err)
	}
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	return u
}
