package journal

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// Quiet returns a copy of a config whose requests are not throttled by this process and whose
// warnings are not shown to the user.
func Quiet(config *rest.Config) *rest.Config {
	c := rest.CopyConfig(config)
	c.QPS, c.WarningHandler = -1, rest.NoWarnings{}
	return c
}

// Unstructured converts a typed object of k8s.io/api for the dynamic client.
func Unstructured(o any) *unstructured.Unstructured {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // every type of k8s.io/api converts
	}
	u := new(unstructured.Unstructured)
	if err := u.UnmarshalJSON(text); err != nil {
		panic(err)
	}
	unstructured.RemoveNestedField(u.Object, "metadata", "creationTimestamp")
	return u
}
