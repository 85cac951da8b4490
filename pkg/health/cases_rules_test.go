package health_test

import (
	"github.com/kubectl-sysop/kubectl-sysop/internal/catalog"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/health"
)

// catalogRules returns the rules of health of the catalogue.
func catalogRules() []health.Rule { return catalog.Health(nil) }
