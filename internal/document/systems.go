package document

import (
	"time"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/strict"
)

// AdoptedSystem is a System that was adopted.
type AdoptedSystem struct {
	Name      string `json:"system"`
	Namespace string `json:"namespace"`
	// Apps and Rules are how many its manifest has; Wrong says why that is unknown, and then
	// they are nil, as of a snapshot, which holds no manifest.
	Apps  *int   `json:"apps,omitempty"`
	Rules *int   `json:"rules,omitempty"`
	Wrong string `json:"error,omitempty"`
	// Members are the objects that carry its label.
	Members []object.Ref `json:"members"`
	Created time.Time    `json:"created,omitzero"`
}

// CheckedSystem is what was found in one file. Its System and apps are left out
// where it has problems that keep it from being read.
type CheckedSystem struct {
	File     string           `json:"file"`
	System   string           `json:"system,omitempty"`
	Apps     []string         `json:"apps"`
	Problems []strict.Problem `json:"problems"`
}
