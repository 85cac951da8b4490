package focus_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/internal/focus"
	"github.com/kubectl-sysop/kubectl-sysop/internal/render"
	"github.com/kubectl-sysop/kubectl-sysop/internal/view"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

var update = flag.Bool("update", false, "write the golden files")

func dec(s string) decimal.Decimal { return decimal.RequireFromString(s) }

func at(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

var (
	moodleA = object.Ref{Group: "moodle.example.com", Kind: "Moodle", Namespace: "school-a", Name: "moodle"}
	moodleB = object.Ref{Group: "moodle.example.com", Kind: "Moodle", Namespace: "school-b", Name: "moodle"}
	cluster = object.Ref{Group: "mysql.example.com", Kind: "MysqlCluster", Namespace: "db", Name: "mysql"}
	mysql   = object.Ref{Kind: "Pod", Namespace: "db", Name: "mysql-0"}
	webPod  = object.Ref{Kind: "Pod", Namespace: "school-a", Name: "web-1"}
	data    = object.Ref{Kind: "PersistentVolumeClaim", Namespace: "db", Name: "data"}
	front   = object.Ref{Kind: "Service", Namespace: "school-a", Name: "front"}
)

// schools is a reading of two Moodles that share a database, with one of everything
// that has a price.
func schools() (*metrics.UsageReport, *metrics.Attribution) {
	one := dec("1")
	r := &metrics.UsageReport{
		To: at("2026-11-15T10:41:07.25Z"), Hours: one,
		Pods: []metrics.Pod{
			{
				Ref: mysql, UID: "0c9d2c5e-0000-4000-8000-000000000001", Node: "worker-a", Hours: one, Labels: map[string]string{"app": "mysql", "sysop.dev/stack": "forged"},
				Charged: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("0.5"), metrics.Memory: dec("1073741825"), "nvidia.com/gpu": one}),
			},
			{
				Ref: webPod, UID: "0c9d2c5e-0000-4000-8000-000000000002", Node: "worker-a", Hours: one,
				Charged: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("0.0333333333333"), metrics.Memory: dec("268435456")}),
			},
			{
				Ref: object.Ref{Kind: "Pod", Namespace: "kube-system", Name: "dns"}, UID: "0c9d2c5e-0000-4000-8000-000000000003", Hours: one,
				Charged: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("0.1")}),
			},
		},
		Claims: []metrics.Claim{{
			Ref: data, UID: "0c9d2c5e-0000-4000-8000-000000000004", Class: "ssd", Hours: one, Claimed: dec("10737418240"),
			Mounts: []metrics.Mount{{Pod: mysql, Hours: dec("0.7")}}, Unmounted: dec("0.3"),
		}},
		LoadBalancers: []metrics.LoadBalancer{{Service: front, Hours: one}},
		Nodes: []metrics.Node{{
			Name: "worker-a", ProviderID: "aws:///eu-central-1a/i-0123", Hours: one, Whole: true,
			Labels:   map[string]string{"topology.kubernetes.io/region": "eu-central-1", "topology.kubernetes.io/zone": "eu-central-1a"},
			Capacity: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("4"), metrics.Memory: dec("17179869184")}),
		}},
	}
	both := metrics.Path{Stacks: []object.Ref{moodleA, moodleB}, Path: []object.Ref{cluster, {Group: "apps", Kind: "StatefulSet", Namespace: "db", Name: "mysql"}}}
	p := &metrics.Attribution{
		Stacks: []object.Ref{moodleA, moodleB},
		Of: map[object.Ref]metrics.Path{
			mysql: both, data: {Stacks: both.Stacks},
			webPod: {Stacks: []object.Ref{moodleA}, Path: []object.Ref{moodleA, {Group: "apps", Kind: "Deployment", Namespace: "school-a", Name: "web"}}},
			front:  {Stacks: []object.Ref{moodleA}, Path: []object.Ref{moodleA}},
		},
	}
	return r, p
}

// discounted is the ledger of the schools, with discounts and with charges that the
// default prices do not make.
func discounted(r *metrics.UsageReport, p *metrics.Attribution, o cost.Options) *cost.Ledger {
	l := cost.Allocate(r, p, cost.DefaultBook(), o)
	for i := range l.Charges {
		c := &l.Charges[i]
		if c.Resource == metrics.CPU {
			c.Price = c.List.Mul(dec("0.85"))
			c.Cost = c.Quantity.Mul(c.Price)
		}
	}
	add := func(item object.Ref, stack object.Ref, res metrics.Resource, quantity, unit, price, sku string) {
		c := cost.Charge{
			Kind: cost.Used, Item: item, Stack: stack, Share: dec("1"), Of: 1, Namespace: item.Namespace, Resource: res,
			Quantity: dec(quantity), Unit: unit, List: dec(price), Price: dec(price), SKU: sku,
		}
		c.Cost = c.Quantity.Mul(c.Price)
		l.Charges = append(l.Charges, c)
	}
	add(front, moodleA, cost.LoadBalancer, "1", "Hours", "0.025", "load-balancer")
	add(webPod, moodleA, metrics.Sent, "0.123456789012", "GiB", "0.12", "network/transmit")
	add(webPod, moodleA, metrics.Received, "3", "GiB", "0", "network/receive")
	return l
}

func focusOptions(version string) focus.Options {
	return focus.Options{
		Version: version, AccountID: "8c2c0d5e-7b5e-4a1c-9f2e-000000000000", AccountName: "production", Provider: "Example University",
		Tags: func(r object.Ref) map[string]string {
			switch r {
			case moodleA:
				return map[string]string{"team": "a", "app": "moodle"}
			case webPod:
				return map[string]string{"app": "web", "note": `quote " and = and, comma`}
			}
			return nil
		},
	}
}

// focusText writes a FOCUS file.
func focusText(t testing.TB, l *cost.Ledger, r *metrics.UsageReport, p *metrics.Attribution, o focus.Options) string {
	t.Helper()
	sheet, err := focus.CSV(l, r, p, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := render.Write(&out, "focus", view.Output{Focus: sheet}, render.Options{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// allCriteria claims that the provider supports everything but what a cluster has not,
// so that rules are passed over for nothing else.
func allCriteria(m *focusModel) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(m.ApplicabilityCriteria)), func(c string) bool {
		return c == "COMMITMENT_DISCOUNT_SUPPORTED" || c == "CAPACITY_RESERVATION_SUPPORTED"
	})
}

func sharings() map[string]cost.Options {
	return map[string]cost.Options{
		"plain":  {},
		"shared": {Sharing: cost.ShareUsage, ShareIdle: true, ShareNamespaces: []string{"kube-system"}, ShareOverhead: dec("0.1")},
		"weight": {Sharing: cost.ShareWeight, ShareOverhead: dec("0.333333"), Weighted: true},
	}
}

func TestFocusFileKeepsTheRules(t *testing.T) {
	m := readFocusModel(t)
	if n, f, c := len(m.ModelRules), len(m.CheckFunctions), len(m.ApplicabilityCriteria); n != 621 || f != 22 || c != 18 {
		t.Fatalf("the model has %d rules, %d check functions, %d criteria", n, f, c)
	}
	for name, o := range sharings() {
		t.Run(name, func(t *testing.T) {
			r, p := schools()
			d := readFocusData(t, focusText(t, discounted(r, p, o), r, p, focusOptions("1.2")))
			results := evaluateFocus(t, m, d, allCriteria(m))
			count := map[focusStatus]int{}
			for _, id := range slices.Sorted(maps.Keys(results)) {
				result := results[id]
				count[result.status]++
				if result.status == focusFailed {
					t.Errorf("%s failed: %s\n\t%s", id, result.reason, m.ModelRules[id].ValidationCriteria.MustSatisfy)
				}
				if result.reason == "" {
					t.Errorf("%s is %s for no reason", id, result.status)
				}
			}
			t.Logf("%d rows: %v", len(d.rows), count)
			if count[focusPassed] < 350 {
				t.Errorf("only %d rules were really evaluated", count[focusPassed])
			}
		})
	}
}

func TestFocusEvaluatorFindsWhatIsWrong(t *testing.T) {
	m := readFocusModel(t)
	r, p := schools()
	text := focusText(t, discounted(r, p, cost.Options{}), r, p, focusOptions("1.2"))
	// set spoils a cell that holds something, or else any.
	set := func(column, value string) func(*focusData) {
		return func(d *focusData) {
			row := slices.IndexFunc(d.rows, func(row []string) bool { return row[d.at[column]] != "NULL" })
			d.rows[max(row, 0)][d.at[column]] = value
		}
	}
	remove := func(column string) func(*focusData) {
		return func(d *focusData) {
			i := d.at[column]
			d.names = slices.Delete(slices.Clone(d.names), i, i+1)
			d.at = map[string]int{}
			for at, name := range d.names {
				d.at[name] = at
			}
			for row := range d.rows {
				d.rows[row] = slices.Delete(d.rows[row], i, i+1)
			}
		}
	}
	for name, c := range map[string]struct {
		spoil func(*focusData)
		rule  string
	}{
		"an unknown currency":          {set("BillingCurrency", "USX"), "BillingCurrency-C-006-M"},
		"a currency in small letters":  {set("BillingCurrency", "usd"), "BillingCurrency-C-003-M"},
		"a product that is rounded":    {set("ContractedCost", "0.01"), "ContractedUnitPrice-C-011-C"},
		"a list cost":                  {set("ListCost", "1"), "ListCost-C-009-C"},
		"an exponent with a plus":      {set("PricingQuantity", "1e+06"), "PricingQuantity-C-002-M"},
		"a thousands separator":        {set("BilledCost", "1,000"), "NumericFormat-A-009-M"},
		"a date without a zone":        {set("ChargePeriodStart", "2026-11-15 10:00:00"), "ChargePeriodStart-C-002-M"},
		"a day that is not there":      {set("ChargePeriodEnd", "2026-11-31T00:00:00Z"), "ChargePeriodEnd-C-002-M"},
		"a period over two months":     {set("ChargePeriodEnd", "2026-12-01T00:00:01Z"), "BillingPeriodEnd-C-004-M"},
		"a category that is not known": {set("ChargeCategory", "Fee"), "ChargeCategory-C-003-M"},
		"two categories of a service":  {set("ServiceCategory", "Storage"), "ServiceName-C-005-C"},
		"a subcategory of another":     {set("ServiceSubcategory", "Containers2"), "ServiceSubcategory-C-003-M"},
		"two SKUs of a price":          {set("SkuId", "other"), "SkuPriceId-C-008-M"},
		"no SKU":                       {set("SkuId", "NULL"), "SkuId-C-005-C"},
		"no meter":                     {set("SkuMeter", "NULL"), "SkuMeter-C-005-C"},
		"another issuer":               {set("InvoiceIssuerName", "Somebody"), "BilledCost-C-005-C"},
		"a negative price":             {set("ListUnitPrice", "-1"), "ListUnitPrice-C-008-M"},
		"an empty cell":                {set("ChargeClass", ""), "NullHandling-A-002-M"},
		"a correction":                 {set("ChargeClass", "Correct"), "ChargeClass-C-005-C"},
		"a unit of no list":            {set("PricingUnit", "gib-hours"), "PricingUnit-C-003-O"},
		"a unit without a quantity":    {set("ConsumedQuantity", "NULL"), "ConsumedUnit-C-005-C"},
		"tags that are nested":         {set("Tags", `{"a":{"b":1}}`), "Tags-C-001-M"},
		"tags that come twice":         {set("Tags", `{"a":1,"a":2}`), "KeyValueFormat-A-002-M"},
		"a name without a sub account": {set("SubAccountId", "NULL"), "SubAccountName-C-004-C"},
		"a resource without a type":    {set("ResourceType", "NULL"), "ResourceType-C-005-C"},
		"a type without a resource":    {set("ResourceId", "NULL"), "ResourceType-C-004-C"},
		"no effective cost":            {set("EffectiveCost", "NULL"), "EffectiveCost-C-003-M"},
		"a frequency":                  {set("ChargeFrequency", "Hourly"), "ChargeFrequency-C-003-M"},
		"no billed cost":               {remove("BilledCost"), "CostAndUsage-D-006-M"},
		"a column that is gone":        {remove("ChargeClass"), "CostAndUsage-D-026-M"},
		"a column of nobody":           {func(d *focusData) { d.names[3] = "BillingAccountNameX" }, "ColumnHandling-A-001-M"},
		"our column before theirs":     {func(d *focusData) { d.names[3] = "x_Mine" }, "ColumnHandling-A-012-O"},
	} {
		t.Run(name, func(t *testing.T) {
			d := readFocusData(t, text)
			c.spoil(d)
			if got := evaluateFocus(t, m, d, allCriteria(m))[c.rule]; got.status != focusFailed {
				t.Errorf("%s is %s (%s)", c.rule, got.status, got.reason)
			}
		})
	}
}

func TestFocusFileSaysWhatTheLedgerSays(t *testing.T) {
	for _, version := range focus.Versions() {
		for name, o := range sharings() {
			t.Run(version+" "+name, func(t *testing.T) {
				r, p := schools()
				l := discounted(r, p, o)
				d := readFocusData(t, focusText(t, l, r, p, focusOptions(version)))
				if len(d.rows) != len(l.Charges) {
					t.Fatalf("%d rows of %d charges", len(d.rows), len(l.Charges))
				}
				sums := map[string]decimal.Decimal{}
				for i := range d.rows {
					for _, column := range []string{"BilledCost", "EffectiveCost", "ContractedCost", "ListCost"} {
						text, _ := d.cell(i, column)
						sums[column] = sums[column].Add(dec(text))
					}
				}
				for _, column := range []string{"BilledCost", "EffectiveCost", "ContractedCost"} {
					if !sums[column].Equal(l.Total()) {
						t.Errorf("%s adds up to %s, the ledger to %s", column, sums[column], l.Total())
					}
				}
				if !sums["ListCost"].GreaterThan(l.Total()) {
					t.Errorf("there is a discount, and the list cost is %s of %s", sums["ListCost"], l.Total())
				}
			})
		}
	}
}

// origins are the rows of a file of 1.3 by the charge that they are parts of.
func origins(t *testing.T, d *focusData) map[string][]int {
	t.Helper()
	summed := []string{"BilledCost", "ConsumedQuantity", "ContractedCost", "EffectiveCost", "ListCost", "PricingCurrencyEffectiveCost", "PricingQuantity"}
	out := map[string][]int{}
	for i := range d.rows {
		var key []string
		for at, name := range d.names {
			if strings.HasPrefix(name, "x_") || strings.HasPrefix(name, "Allocated") && name != "AllocatedMethodId" || slices.Contains(summed, name) {
				continue
			}
			key = append(key, d.rows[i][at])
		}
		out[strings.Join(key, "\x00")] = append(out[strings.Join(key, "\x00")], i)
	}
	return out
}

// notSplit says that an origin charge is its only part. FOCUS 1.3 has AllocatedMethodId and
// AllocatedResourceId null where a charge is not related to a split cost allocation
// (specification/datasets/cost_and_usage/columns/allocatedmethodid.md).
func notSplit(t *testing.T, d *focusData, rows []int) bool {
	t.Helper()
	if len(rows) > 1 {
		return false
	}
	for _, name := range []string{"AllocatedMethodId", "AllocatedMethodDetails", "AllocatedResourceId", "AllocatedResourceName", "AllocatedTags"} {
		if text, ok := d.cell(rows[0], name); ok {
			t.Errorf("row %d is not split, and has the %s %s", rows[0]+1, name, text)
		}
	}
	return true
}

// TestFocusPricesOfNodes has two nodes of different size at the price of a whole node, which is
// split over what each has: FOCUS has one ListUnitPrice of a SkuPriceId (columns/skupriceid.md: a
// SkuPriceId is associated with one unit price, before discounts).
func TestFocusPricesOfNodes(t *testing.T) {
	book, problems := cost.ParseBook("nodes", []byte(`{apiVersion: sysop.dev/v1alpha1, kind: PriceBook, currency: EUR, cpu: "0.03", memory: "0.004", storage: "0", overrides: [{name: pool, nodes: {selector: pool=a}, node: "0.2"}]}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	r := &metrics.UsageReport{To: time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC), Hours: dec("1")}
	for i, cores := range []string{"2", "8"} {
		node := "n" + cores
		r.Nodes = append(r.Nodes, metrics.Node{Name: node, Labels: map[string]string{"pool": "a"}, Hours: dec("1"), Whole: true, Capacity: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"cpu": dec(cores), "memory": dec("17179869184")})})
		r.Pods = append(r.Pods, metrics.Pod{Ref: object.Ref{Kind: "Pod", Namespace: "a", Name: node}, UID: types.UID(strconv.Itoa(i)), Node: node, Hours: dec("1"), Charged: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{"cpu": dec("1"), "memory": dec("1073741824")})})
	}
	d := readFocusData(t, focusText(t, cost.Allocate(r, &metrics.Attribution{}, book, cost.Options{}), r, nil, focusOptions("1.2")))
	prices := map[string]string{}
	for i := range d.rows {
		id, _ := d.cell(i, "SkuPriceId")
		price, _ := d.cell(i, "ListUnitPrice")
		if had, ok := prices[id]; ok && had != price {
			t.Errorf("SkuPriceId %s has the prices %s and %s", id, had, price)
		}
		prices[id] = price
	}
	if len(prices) != 4 {
		t.Errorf("the prices are %v, want four", prices)
	}
}

func TestFocusSplitsAddUp(t *testing.T) {
	for name, o := range sharings() {
		t.Run(name, func(t *testing.T) {
			r, p := schools()
			l := discounted(r, p, o)
			options := focusOptions("1.3")
			options.Sharing = o
			d := readFocusData(t, focusText(t, l, r, p, options))
			whole := map[string]decimal.Decimal{}
			for i := range l.Charges {
				c := &l.Charges[i]
				key := fmt.Sprint(c.Item, c.UID, c.Resource, c.SKU, c.Price)
				whole[key] = whole[key].Add(c.Cost)
			}
			byOrigin := origins(t, d)
			for _, rows := range byOrigin {
				if notSplit(t, d, rows) {
					continue
				}
				var ratio, billed decimal.Decimal
				for _, i := range rows {
					text, ok := d.cell(i, "AllocatedMethodDetails")
					if !ok {
						t.Fatalf("row %d: no details", i+1)
					}
					var details struct {
						Elements []struct {
							AllocatedRatio, UsageQuantity json.Number
							UsageUnit                     string
						}
					}
					if err := json.Unmarshal([]byte(text), &details); err != nil || len(details.Elements) != 1 {
						t.Fatalf("row %d: details %s: %v", i+1, text, err)
					}
					element := details.Elements[0]
					ratio = ratio.Add(dec(string(element.AllocatedRatio)))
					quantity, _ := d.cell(i, "PricingQuantity")
					unit, _ := d.cell(i, "PricingUnit")
					if string(element.UsageQuantity) != quantity || element.UsageUnit != unit {
						t.Errorf("row %d: %s of %s %s", i+1, text, quantity, unit)
					}
					cost, _ := d.cell(i, "BilledCost")
					billed = billed.Add(dec(cost))
				}
				if !ratio.Equal(dec("1")) {
					t.Errorf("the ratios of %d rows add up to %s", len(rows), ratio)
				}
				c := &l.Charges[rows[0]]
				if want := whole[fmt.Sprint(c.Item, c.UID, c.Resource, c.SKU, c.Price)]; !billed.Equal(want) {
					t.Errorf("%s of %s: the parts cost %s of %s", c.Resource, c.Item, billed, want)
				}
			}
			if len(byOrigin) >= len(d.rows) {
				t.Errorf("nothing is split: %d rows, %d origins", len(d.rows), len(byOrigin))
			}
		})
	}
}

func TestFocusAllocatesToStacks(t *testing.T) {
	r, p := schools()
	d := readFocusData(t, focusText(t, discounted(r, p, cost.Options{}), r, p, focusOptions("1.3")))
	found := map[string][]string{}
	for i := range d.rows {
		var cells []string
		for _, column := range []string{"AllocatedResourceId", "AllocatedTags", "Tags", "x_StackName", "ResourceId"} {
			text, ok := d.cell(i, column)
			if !ok {
				text = "NULL"
			}
			cells = append(cells, text)
		}
		description, _ := d.cell(i, "ChargeDescription")
		found[description] = append(found[description], strings.Join(cells, " | "))
	}
	for description, want := range map[string][]string{
		"CPU of Pod/db/mysql-0": {
			`Moodle.moodle.example.com/school-a/moodle | {"team":"a"} | {"app":"mysql"} | moodle | 0c9d2c5e-0000-4000-8000-000000000001`,
			`Moodle.moodle.example.com/school-b/moodle | NULL | {"app":"mysql"} | moodle | 0c9d2c5e-0000-4000-8000-000000000001`,
		},
		"CPU of Pod/school-a/web-1": {
			`NULL | NULL | {"app":"web","note":"quote \" and = and, comma"} | moodle | 0c9d2c5e-0000-4000-8000-000000000002`,
		},
		"CPU of Pod/kube-system/dns": {"NULL | NULL | NULL | NULL | 0c9d2c5e-0000-4000-8000-000000000003"},
		"CPU idle on Node/worker-a":  {`NULL | NULL | {"topology.kubernetes.io/region":"eu-central-1","topology.kubernetes.io/zone":"eu-central-1a"} | NULL | aws:///eu-central-1a/i-0123`},
	} {
		if got := found[description]; !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", description, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, name := range []string{"ServiceProviderName", "HostProviderName"} {
		for i := range d.rows {
			if text, ok := d.cell(i, name); !ok || text != "Example University" {
				t.Errorf("row %d: %s is %q", i+1, name, text)
			}
		}
	}
}

func TestFocusPeriods(t *testing.T) {
	for _, c := range []struct{ from, to, start, end, month, next, err string }{
		{"", "2026-11-15T10:41:07.25Z", "2026-11-15T10:00:00Z", "2026-11-15T11:00:00Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", ""},
		{"", "2026-12-31T23:59:59Z", "2026-12-31T23:00:00Z", "2027-01-01T00:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z", ""},
		{"", "2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z", "2026-11-01T01:00:00Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", ""},
		// Half past nine in India is in the hour before, and in the month before.
		{"", "2026-11-01T05:15:00+05:30", "2026-10-31T23:00:00Z", "2026-11-01T00:00:00Z", "2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z", ""},
		{"2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z", ""},
		{"2028-02-29T12:00:00Z", "2028-02-29T12:00:01Z", "2028-02-29T12:00:00Z", "2028-02-29T12:00:01Z", "2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z", ""},
		{from: "2026-10-28T00:00:00Z", to: "2026-11-04T00:00:00Z", err: "--window 2026-10-28T00:00:00Z/2026-11-01T00:00:00Z"},
		{from: "2026-11-28T00:00:00Z", to: "2026-12-01T00:00:01Z", err: "spans calendar months"},
		{from: "2026-11-01T00:00:00.5Z", to: "2026-11-02T00:00:00Z", err: "fractions of a second"},
		{from: "2026-11-01T00:00:00Z", to: "2026-11-01T00:00:00Z", err: "is empty"},
	} {
		r, p := schools()
		if r.To = at(c.to); c.from != "" {
			r.From = at(c.from)
		}
		sheet, err := focus.CSV(cost.Allocate(r, p, cost.DefaultBook(), cost.Options{}), r, p, focusOptions("1.2"))
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s/%s: error %v, want one with %q", c.from, c.to, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s/%s: %v", c.from, c.to, err)
			continue
		}
		got := map[string]string{}
		for i, column := range sheet.Columns {
			got[column.Name] = sheet.Rows[0][i]
		}
		for column, want := range map[string]string{"ChargePeriodStart": c.start, "ChargePeriodEnd": c.end, "BillingPeriodStart": c.month, "BillingPeriodEnd": c.next} {
			if got[column] != want {
				t.Errorf("%s/%s: %s is %s, want %s", c.from, c.to, column, got[column], want)
			}
		}
	}
}

func TestFocusRefuses(t *testing.T) {
	r, p := schools()
	l := cost.Allocate(r, p, cost.DefaultBook(), cost.Options{})
	if _, err := focus.CSV(l, r, p, focusOptions("1.4")); err == nil || !strings.Contains(err.Error(), "1.2, 1.3") {
		t.Errorf("version 1.4: %v", err)
	}
	o := focusOptions("1.2")
	o.AccountID = ""
	if _, err := focus.CSV(l, r, p, o); err == nil || !strings.Contains(err.Error(), "kube-system") {
		t.Errorf("no account: %v", err)
	}
	l.Charges[0].Cost = l.Charges[0].Cost.Add(dec("0.000000000001"))
	if _, err := focus.CSV(l, r, p, focusOptions("1.2")); err == nil || !strings.Contains(err.Error(), "is not its quantity") {
		t.Errorf("a cost that is no product: %v", err)
	}
}

// randomWorld is a reading of pods, claims and nodes, and where they belong: alone,
// to several stacks, to nobody.
func randomWorld(r *rand.Rand) (*metrics.UsageReport, *metrics.Attribution) {
	amount := func(most int64, places int32) decimal.Decimal { return decimal.New(r.Int64N(most), -places) }
	hours := amount(72_000_000, 5).Add(dec("0.00001"))
	reading := &metrics.UsageReport{From: at("2026-11-01T00:00:00Z"), To: at("2026-12-01T00:00:00Z"), Hours: dec("720")}
	placement := &metrics.Attribution{Of: map[object.Ref]metrics.Path{}}
	for i := range 1 + r.IntN(5) {
		placement.Stacks = append(placement.Stacks, object.Ref{Group: "example.com", Kind: "Shop", Namespace: fmt.Sprint("team-", i%3), Name: fmt.Sprint("shop-", i)})
	}
	place := func(thing object.Ref) {
		stacks := slices.Clone(placement.Stacks)
		r.Shuffle(len(stacks), func(i, j int) { stacks[i], stacks[j] = stacks[j], stacks[i] })
		if n := r.IntN(len(stacks) + 1); n > 0 {
			placement.Of[thing] = metrics.Path{Stacks: stacks[:n], Path: stacks[:1]}
		}
	}
	for i := range 1 + r.IntN(3) {
		reading.Nodes = append(reading.Nodes, metrics.Node{
			Name: fmt.Sprint("node-", i), Hours: hours, Whole: r.IntN(4) > 0,
			Capacity: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: dec("64").Mul(hours), metrics.Memory: dec("274877906944").Mul(hours)}),
		})
	}
	for i := range 1 + r.IntN(12) {
		pod := metrics.Pod{
			Ref: object.Ref{Kind: "Pod", Namespace: fmt.Sprint("team-", i%3), Name: fmt.Sprint("pod-", i)}, UID: types.UID(fmt.Sprint("uid-", i)),
			Node: fmt.Sprint("node-", r.IntN(4)), Hours: hours,
			Charged: metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.CPU: amount(1e9, 9).Mul(hours), metrics.Memory: amount(1<<34, 0).Mul(hours)}),
			Used:    metrics.AmountsOf(map[metrics.Resource]decimal.Decimal{metrics.Sent: amount(1<<40, 0)}),
		}
		if r.IntN(4) == 0 {
			pod.Charged.Set("nvidia.com/gpu", hours)
		}
		place(pod.Ref)
		reading.Pods = append(reading.Pods, pod)
		claim := metrics.Claim{Ref: object.Ref{Kind: "PersistentVolumeClaim", Namespace: pod.Ref.Namespace, Name: fmt.Sprint("data-", i)}, Hours: hours, Claimed: amount(1<<40, 0).Mul(hours)}
		claim.Mounts, claim.Unmounted = []metrics.Mount{{Pod: pod.Ref, UID: pod.UID, Hours: hours.Div(dec("3")).Truncate(6)}}, hours.Sub(hours.Div(dec("3")).Truncate(6))
		reading.Claims = append(reading.Claims, claim)
	}
	return reading, placement
}

// TestFocusOfAnything holds the rules, the sums and the ratios for ledgers of any kind.
func TestFocusOfAnything(t *testing.T) {
	m := readFocusModel(t)
	r := rand.New(rand.NewPCG(12, 4))
	for i := range 12 {
		reading, placement := randomWorld(r)
		o := cost.Options{
			Sharing:   []cost.Sharing{cost.ShareEven, cost.ShareUsage, cost.ShareRequests, cost.ShareWeight}[i%4],
			ShareIdle: i%2 == 0, Weighted: i%3 == 0, ShareOverhead: decimal.New(r.Int64N(1000), -3),
		}
		if i%3 == 1 {
			o.ShareNamespaces = []string{"team-2"}
		}
		l := cost.Allocate(reading, placement, cost.DefaultBook(), o)
		for id, result := range evaluateFocus(t, m, readFocusData(t, focusText(t, l, reading, placement, focusOptions("1.2"))), allCriteria(m)) {
			if result.status == focusFailed {
				t.Errorf("ledger %d: %s failed: %s", i, id, result.reason)
			}
		}
		options := focusOptions("1.3")
		options.Sharing = o
		d := readFocusData(t, focusText(t, l, reading, placement, options))
		total := decimal.Zero
		for _, rows := range origins(t, d) {
			if notSplit(t, d, rows) {
				billed, _ := d.cell(rows[0], "BilledCost")
				total = total.Add(dec(billed))
				continue
			}
			ratio := decimal.Zero
			for _, row := range rows {
				text, _ := d.cell(row, "AllocatedMethodDetails")
				_, after, _ := strings.Cut(text, `"AllocatedRatio":`)
				number, _, _ := strings.Cut(after, ",")
				ratio = ratio.Add(dec(number))
				billed, _ := d.cell(row, "BilledCost")
				total = total.Add(dec(billed))
				_, allocated := d.cell(row, "AllocatedResourceId")
				if stack := l.Charges[row].Stack; allocated == (stack == object.Ref{}) || strings.ContainsAny(number, "eE+") {
					t.Errorf("ledger %d, row %d: allocated %v, of %s, ratio %s", i, row, allocated, stack, number)
				}
			}
			if !ratio.Equal(dec("1")) {
				t.Errorf("ledger %d: the ratios of %d rows add up to %s", i, len(rows), ratio)
			}
		}
		if !total.Equal(l.Total()) {
			t.Errorf("ledger %d: the file adds up to %s of %s", i, total, l.Total())
		}
	}
}

func TestGoldenFocus(t *testing.T) {
	for _, version := range focus.Versions() {
		r, p := schools()
		o := focusOptions(version)
		o.Sharing = cost.Options{ShareOverhead: dec("0.1")}
		got := focusText(t, discounted(r, p, o.Sharing), r, p, o)
		path := "testdata/schools-" + version + ".focus.csv"
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s\n(go test ./internal/focus -update writes it)", path, got)
		}
	}
}

// TestFocusIsDocumented holds that docs/focus.md names every column, service and
// method of splitting.
func TestFocusIsDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/focus.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, sharing := range sharings() {
		r, p := schools()
		o := focusOptions("1.3")
		o.Sharing = sharing
		d := readFocusData(t, focusText(t, discounted(r, p, sharing), r, p, o))
		for _, column := range d.names {
			if !bytes.Contains(doc, []byte("`"+column+"`")) {
				t.Errorf("column %s is not there", column)
			}
		}
		for i := range d.rows {
			method, split := d.cell(i, "AllocatedMethodId")
			if !split {
				method = "NULL"
			}
			service, _ := d.cell(i, "ServiceName")
			category, _ := d.cell(i, "ServiceCategory")
			subcategory, _ := d.cell(i, "ServiceSubcategory")
			if row := "| " + service + " | " + category + " | " + subcategory + " |"; !bytes.Contains(doc, []byte(row)) || !bytes.Contains(doc, []byte("`"+method+"`")) {
				t.Errorf("%s: %s or %s is not there", name, row, method)
			}
		}
	}
}
