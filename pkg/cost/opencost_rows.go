package cost

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// csvVolume takes the price of a GiB-hour of a volume or a storage class. The region
// of a volume is unknown here: a class has one price.
func (r *bookReader) csvVolume(row csvRow) {
	s := &r.book.base.storage
	into := &s.Classes
	if row.idField == "metadata.name" {
		into = &s.Volumes
	}
	if *into == nil {
		*into = map[string]decimal.Decimal{}
	}
	if price, ok := (*into)[row.id]; ok && !price.Equal(row.price) {
		r.reportAt(row.line, row.idColumn, "%q has another price in another row: the region of a volume is unknown, so it can have only one", field.Shorten(row.id))
		return
	}
	(*into)[row.id] = row.price
}

// csvGPUs takes prices of GPUs by the label that names the model. A node whose model
// is in no row has no price of a GPU: OpenCost counts none either.
func (r *bookReader) csvGPUs(rows []csvRow) {
	base := &r.book.base
	if len(rows) > 0 {
		base.extended = nil // that of GPUs is the only one of the default book
	}
	for _, row := range rows {
		label := strings.TrimPrefix(row.idField, "metadata.labels.")
		i := slices.IndexFunc(base.models, func(m GPUDocument) bool { return m.Label == label })
		if i < 0 {
			i = len(base.models)
			base.models = append(base.models, GPUDocument{Label: label, Resource: defaultGPU, Models: map[string]decimal.Decimal{}})
		}
		for model, price := range base.models[i].Models {
			if strings.EqualFold(model, row.id) && !price.Equal(row.price) {
				r.reportAt(row.line, row.idColumn, "%q has another price in another row: expected one price a model", field.Shorten(row.id))
			}
		}
		base.models[i].Models[row.id] = row.price
	}
}

// csvNodes makes an override of each price of a node; first come those of nodes that
// are named, then those of instance types. Where GPUs have prices of their own, they
// come on top, as OpenCost has it.
func (r *bookReader) csvNodes(rows []csvRow, gpus bool) {
	b := r.book
	var covered []metrics.Resource
	if gpus {
		covered = []metrics.Resource{metrics.CPU, metrics.Memory}
	}
	d := b.Document()
	taken := d.lineNames()
	taken["spot"] = true
	// What is said of a region goes before what is said of all.
	slices.SortStableFunc(rows, func(a, b csvRow) int { return cmp.Compare(len(b.region), 0) - cmp.Compare(len(a.region), 0) })
	var all []override
	add := func(name string, s *nodeSelector, price decimal.Decimal) {
		for n := len(all); !isOverrideName(name) || taken[name]; n++ {
			name = nameOf("", n)
		}
		taken[name] = true
		all = append(all, override{name: name, nodes: s, prices: prices{node: &NodePriceDocument{Price: price, Over: covered}}})
	}
	for _, row := range rows {
		if row.id != "" {
			add(row.id, row.selector(), row.price)
		}
	}
	for _, c := range instanceClasses(rows) {
		add(c.kind, c.selector(), c.price)
	}
	b.overrides = append(all, b.overrides...)
}

// selector chooses the nodes of a row.
func (row *csvRow) selector() *nodeSelector {
	s := &nodeSelector{}
	if row.region != "" {
		s.regions = []string{row.region}
	}
	switch {
	case row.id == "":
		s.instanceTypes = []string{row.kind}
	case row.idField == "metadata.name":
		s.names = []string{row.id}
	case row.idField == "spec.providerID":
		s.providerIDs = []string{row.id}
	default:
		q, err := labels.NewRequirement(strings.TrimPrefix(row.idField, "metadata.labels."), selection.Equals, []string{row.id})
		if err == nil {
			s.labels = labels.NewSelector().Add(*q)
		}
	}
	return s
}

// instanceClasses are the prices of the nodes of an instance type that no row names:
// the mean of the rows of the type, in its region.
func instanceClasses(rows []csvRow) []csvRow {
	var all []csvRow
	count, index := map[int]int64{}, map[[2]string]int{}
	for _, row := range rows {
		key, ofLabel := strings.CutPrefix(row.idField, "metadata.labels.")
		if row.kind == "" || ofLabel && slices.Contains(instanceTypeLabels(), key) && row.id == row.kind {
			continue
		}
		class := [2]string{strings.ToLower(row.kind), strings.ToLower(row.region)}
		i, ok := index[class]
		if !ok {
			i = len(all)
			index[class] = i
			all = append(all, csvRow{region: row.region, kind: row.kind})
		}
		all[i].price = all[i].price.Add(row.price)
		count[i]++
	}
	for i := range all {
		if count[i] > 1 {
			all[i].price = dividedBy(all[i].price, count[i])
		}
	}
	return all
}
