package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// DrainDocument is what a drain of a node would do (docs/schema/drain.json).
type DrainDocument struct {
	Head        `json:",inline"`
	check.Drain `json:",inline"`
	Gaps        []object.Gap `json:"gaps"`
}
