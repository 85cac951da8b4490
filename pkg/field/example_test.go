package field_test

import (
	"fmt"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
)

func ExamplePath_Find() {
	p, err := field.Parse("spec.users[].secretName")
	if err != nil {
		fmt.Println(err)
		return
	}
	fields := map[string]any{"spec": map[string]any{"users": []any{
		map[string]any{"name": "ann"},
		map[string]any{"name": "bob", "secretName": "bob-password"},
	}}}
	for at, value := range p.Find(fields) {
		fmt.Println(at, "=", value)
	}
	// Output: spec.users[1].secretName = bob-password
}
