package view

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/drain"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// DrainDocument is what a drain of a node would do (docs/schema/drain.json).
type DrainDocument struct {
	Head          `json:",inline"`
	drain.Outcome `json:",inline"`
	Gaps          []object.Gap `json:"gaps"`
}
