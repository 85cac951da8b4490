package app

import (
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/inventory"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// CollectWhole makes the next session hand on every object that it reads: custom resources whole,
// the built-in kinds of check.Whole as Go types. Calls may be concurrent.
func (c *Input) CollectWhole(each func(object.Object)) {
	c.wholly = check.Whole()
	c.Extract = append(c.Extract, func(*Session) inventory.Extractor {
		return func(o object.Object) func(*inventory.Inventory, inventory.ID) {
			each(o)
			return nil
		}
	})
}
