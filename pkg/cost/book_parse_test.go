package cost_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/cost"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
)

// TestRefused: what is wrong in a book is told with its place, all of it.
func TestRefused(t *testing.T) {
	for what, c := range map[string]struct {
		old, text string // what of the minimal book is replaced
		want      []string
	}{
		"nothing":                  {minimal, "", []string{"1:1: expected a document of apiVersion sysop.dev/v1alpha1, kind PriceBook"}},
		"a list":                   {minimal, "[]", []string{"1:1: expected a document"}},
		"not YAML":                 {minimal, "cpu: [", []string{"1:1: not YAML"}},
		"two documents":            {minimal, minimal + "---\n" + minimal, []string{"8:1: expected one document, got a second one"}},
		"another kind":             {"PriceBook", "PriceList", []string{`2:7: got "PriceList": expected PriceBook`}},
		"another version":          {"v1alpha1", "v1", []string{`1:13: got "sysop.dev/v1": expected sysop.dev/v1alpha1`}},
		"unknown field":            {"overrides: []", "strage: 1", []string{`7:1: unknown key "strage" (did you mean storage?)`}},
		"unknown currency":         {"USD", "EURO", []string{`3:11: unknown currency "EURO"`, "did you mean", "EUR"}},
		"small currency":           {"USD", "usd", []string{`3:11: unknown currency "usd"`, "did you mean USD"}},
		"no cpu":                   {"cpu: 0.02\n", "", []string{"1:1: cpu is missing"}},
		"no memory":                {"memory: 0.005\n", "", []string{"1:1: memory is missing"}},
		"no storage":               {"storage: 0.0001\n", "", []string{"1:1: storage is missing"}},
		"no currency":              {"currency: USD\n", "", []string{"1:1: currency is missing"}},
		"no default storage":       {"storage: 0.0001", "storage: {classes: {ssd: 1}}", []string{"6:10: default is missing"}},
		"negative":                 {"cpu: 0.02", "cpu: -0.02", []string{`4:6: "-0.02" is negative`}},
		"NaN":                      {"cpu: 0.02", "cpu: .nan", []string{`4:6: ".nan" is not a decimal number`}},
		"NaN in words":             {"cpu: 0.02", "cpu: NaN", []string{`4:6: "NaN" is not a decimal number`}},
		"infinite":                 {"cpu: 0.02", "cpu: .inf", []string{`4:6: ".inf" is not a decimal number`}},
		"null":                     {"cpu: 0.02", "cpu:", []string{"4:5: expected a price"}},
		"true":                     {"cpu: 0.02", "cpu: true", []string{"4:6: expected a price"}},
		"a list for a price":       {"cpu: 0.02", "cpu: [1]", []string{"4:6: expected a price"}},
		"an exponent":              {"cpu: 0.02", "cpu: 1e3", []string{`4:6: "1e3" has an exponent: write the full number`}},
		"a comma":                  {"cpu: 0.02", "cpu: '1,000.5'", []string{`4:6: "1,000.5" has a comma`}},
		"a decimal comma":          {"cpu: 0.02", "cpu: 0,02", []string{`4:6: "0,02" has a comma`}},
		"hexadecimal":              {"cpu: 0.02", "cpu: 0x10", []string{`4:6: "0x10" is not a decimal number`}},
		"octal":                    {"cpu: 0.02", "cpu: 010", []string{`4:6: "010" is not a decimal number`}},
		"underscores":              {"cpu: 0.02", "cpu: 1_000", []string{`4:6: "1_000" is not a decimal number`}},
		"a plus":                   {"cpu: 0.02", "cpu: +1", []string{`4:6: "+1" is not a decimal number`}},
		"a dollar":                 {"cpu: 0.02", "cpu: $1", []string{`4:6: "$1" is not a decimal number`}},
		"no digit before":          {"cpu: 0.02", "cpu: .5", []string{`4:6: ".5" is not a decimal number`}},
		"too long":                 {"cpu: 0.02", "cpu: 1234567890123", []string{"4:6", "too many digits"}},
		"too precise":              {"cpu: 0.02", "cpu: 0.1234567890123456789012345", []string{"4:6", "too many digits"}},
		"twice":                    {"cpu: 0.02", "cpu: 0.02\ncpu: 0.03", []string{"5:1: a second cpu: expected one"}},
		"a class twice":            {"storage: 0.0001", "storage: {default: 1, classes: {a: 1, a: 2}}", []string{"6:39: a second a: expected one"}},
		"an alias":                 {"memory: 0.005", "memory: &m 0.005\nloadBalancer: *m", []string{"6:15: aliases are not read"}},
		"an alias in a list":       {"overrides: []", "overrides: [{nodes: {names: [&n a, *n]}, cpu: 1}]", []string{"7:36: aliases are not read"}},
		"an alias in a map":        {"storage: 0.0001", "storage: {default: &d 1, classes: {a: *d}}", []string{"6:39: aliases are not read"}},
		"per week":                 {"cpu: 0.02", "cpu: {price: 1, per: week}", []string{`4:22: got "week": expected hour or month`}},
		"per without price":        {"cpu: 0.02", "cpu: {per: month}", []string{"4:6: price is missing"}},
		"storage per without":      {"storage: 0.0001", "storage: {per: month}", []string{"6:10: price is missing"}},
		"per of traffic":           {"overrides: []", "network: {transmit: {price: 1, per: month}}", []string{"7:37: this price is per GiB"}},
		"not an extended resource": {"overrides: []", "extended: {gpu: 1}", []string{`7:17: "gpu" is not an extended resource`}},
		"gpu without models":       {"overrides: []", "gpu: {label: a}", []string{"7:6: models is missing"}},
		"models twice":             {"overrides: []", "gpu: {models: {T4: 1, t4: 2}}", []string{"7:23: t4 is T4 again"}},
		"a whole discount":         {"overrides: []", "discounts: {all: 10}", []string{`7:18: "10" is not a fraction below 1: write a percentage`}},
		"one":                      {"overrides: []", "discounts: {all: 1}", []string{`7:18: "1" is not a fraction below 1`}},
		"more than all":            {"overrides: []", "discounts: {all: 101%}", []string{`7:18: "101%" is more than 100%`}},
		"a negative discount":      {"overrides: []", "discounts: {all: -5%}", []string{`7:18: "-5%"`, "negative"}},
		"an unknown discount":      {"overrides: []", "discounts: {cpus: 5%}", []string{`7:19: unknown discount "cpus"`, "did you mean cpu?"}},
		"for nobody":               {"[]", "[{cpu: 1}]", []string{"7:13: an override applies to some nodes or namespaces"}},
		"for nothing":              {"[]", "[{nodes: a=b}]", []string{"7:13: the override has no price and no discount"}},
		"for every node":           {"[]", "[{nodes: {}, cpu: 1}]", []string{"7:21: this selects every node"}},
		"no selector":              {"[]", "[{nodes: 'a in b', cpu: 1}]", []string{`7:21: "a in b" is not a label selector`}},
		"an unknown operator":      {"[]", "[{nodes: {matchExpressions: [{key: a, operator: Inn}]}, cpu: 1}]", []string{`7:60: unknown operator "Inn"`}},
		"In without values":        {"[]", "[{nodes: {matchExpressions: [{key: a, operator: In}]}, cpu: 1}]", []string{"7:41: not a label selector"}},
		"no label":                 {"[]", "[{nodes: {matchLabels: {a b: c}}, cpu: 1}]", []string{"7:41: no node has this label"}},
		"no namespace":             {"[]", "[{namespaces: [Shop], cpu: 1}]", []string{`7:27: "Shop" is not a name of a namespace`}},
		"no namespaces":            {"[]", "[{namespaces: [], cpu: 1}]", []string{"7:26: the list is empty"}},
		"storage of nodes":         {"[]", "[{nodes: a=b, storage: 1}]", []string{"7:35: storage is not priced by node"}},
		"traffic of nodes":         {"[]", "[{nodes: a=b, network: {receive: 1}}]", []string{"7:35: network is not priced by node"}},
		"discounts of nodes":       {"[]", "[{nodes: a=b, discounts: {storage: 5%}}]", []string{"7:37: storage is not priced by node"}},
		"a node of a namespace":    {"[]", "[{namespaces: a, node: 1}]", []string{"7:35: node is the price of a node: set nodes"}},
		"twice by node":            {"[]", "[{nodes: a=b, node: 1, cpu: 1}]", []string{"7:40: node is also the price of its cpu"}},
		"twice by the GPU":         {"[]", "[{nodes: a=b, node: 1, extended: {x/y: 1}}]", []string{"7:45: node is also the price of its x/y"}},
		"over nothing":             {"[]", "[{nodes: a=b, node: {price: 1, over: [cpus]}}]", []string{`7:50: "cpus" is not a resource of a node`, "did you mean cpu?"}},
		"two of a name":            {"[]", "[{name: a, nodes: a=b, cpu: 1}, {name: a, nodes: c=d, cpu: 2}]", []string{"7:44: a is also the name of another override"}},
		"a name of a class":        {"storage: 0.0001\noverrides: []", "storage: {default: 1, classes: {a: 1}}\noverrides: [{name: a, namespaces: x, storage: 1}]", []string{"7:13: a is also the name of another override, of a storage class"}},
		"nothing to split by":      {"cpu: 0.02\nmemory: 0.005\nstorage: 0.0001\noverrides: []", "cpu: 0\nmemory: 0\nstorage: 0\noverrides: [{nodes: a=b, node: 1}]", []string{"7:32: the price of a node is split"}},
		"shared by whim":           {"overrides: []", "sharedNamespaces: a\nsharedBy: costs", []string{`8:11: unknown way "costs": expected even, or cost`, "did you mean cost?"}},
		"shared of nothing":        {"overrides: []", "sharedBy: even", []string{"7:11: sharedBy is how shared cost is split: set sharedNamespaces or sharedLabels"}},
		"no shared namespace":      {"overrides: []", "sharedNamespaces: [Kube]", []string{`7:20: "Kube" is not a name of a namespace`}},
		"no shared label":          {"overrides: []", "sharedLabels: {a b: c}", []string{`7:21: "a b" is not a label`}},
		"no value of a label":      {"overrides: []", "sharedLabels: {tier: [web, 'a b']}", []string{`7:28: "a b" cannot be the value of a label`}},
		"no values":                {"overrides: []", "sharedLabels: {tier: []}", []string{"7:22: the list is empty"}},
		"no clusters":              {"[]", "[{clusters: [], cpu: 1}]", []string{"7:24: the list is empty"}},
		"several":                  {"cpu: 0.02\nmemory: 0.005", "cpu: -1\nmemory: x\nmore: 1", []string{`4:6: "-1"`, `5:9: "x"`, `6:1: unknown key "more"`}},
	} {
		if !strings.Contains(minimal, c.old) {
			t.Fatalf("%s: %q is not in the book", what, c.old)
		}
		refused(t, what, "b.yaml", strings.Replace(minimal, c.old, c.text, 1), c.want)
	}
}

// refused wants a text to have problems, whose lines hold these words in order.
func refused(t *testing.T, what, name, text string, want []string) {
	t.Helper()
	b, problems := cost.ParseBook(name, []byte(text))
	if b != nil {
		t.Errorf("%s is not refused", what)
	}
	var lines strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&lines, "%d:%d: %s\n", p.Line, p.Column, p.Message)
	}
	rest := lines.String()
	for _, w := range want {
		_, after, ok := strings.Cut(rest, w)
		if !ok {
			t.Errorf("%s: want %q in\n%s", what, w, &lines)
			return
		}
		rest = after
	}
}

// TestExact: a number of the file is the price, to the last digit.
func TestExact(t *testing.T) {
	for written, want := range map[string]string{
		"0.1": "0.1", "0.30000000000000004": "0.30000000000000004", "0.00005479452054794521": "0.00005479452054794521", "'12'": "12", "0.10": "0.1", "100": "100",
		"{price: 0.04, per: month}": "0.000054794520547945", "{price: 730, per: month}": "1", "{price: 2}": "2", "{price: 2, per: hour}": "2", "0": "0",
	} {
		b := parseText(t, "b.yaml", strings.Replace(minimal, "cpu: 0.02", "cpu: "+written, 1))
		is(t, written, b.Node(nil, "").CPU, want+" cpu")
	}
}

// TestMany: of very many problems the first are told.
func TestMany(t *testing.T) {
	text := strings.Replace(minimal, "[]", "["+strings.Repeat("{x: 1},", 5000)+"]", 1)
	_, problems := cost.ParseBook("b.yaml", []byte(text))
	if len(problems) != 101 || !strings.Contains(problems[100].Message, "problems more") {
		t.Errorf("%d problems, the last %v", len(problems), problems[len(problems)-1])
	}
}

// TestPrecedence: for each price the first override that says it decides.
func TestPrecedence(t *testing.T) {
	b := parseText(t, "b.yaml", strings.Replace(minimal, "[]", `
- {name: one, namespaces: shop, memory: 0.1, discounts: {cpu: 50%}}
- {name: two, nodes: pool=gpu, cpu: 0.2, memory: 0.2}
- {name: three, nodes: {names: [gpu-*]}, node: 8, discounts: {cpu: 10%, memory: 10%}}
- {name: four, namespaces: shop, nodes: pool=gpu, extended: {nvidia.com/gpu: 4}}`, 1))
	shop, other := b.Node(gpuNode(), "shop"), b.Node(gpuNode(), "other")
	is(t, "cpu", shop.CPU, "0.2 0.1 cpu/two")
	is(t, "cpu elsewhere", other.CPU, "0.2 0.18 cpu/two")
	is(t, "memory", shop.Memory, "0.1 0.09 memory/one")
	is(t, "memory elsewhere", other.Memory, "0.2 0.18 memory/two")
	// The node's 8 are split over what four and the base say: 0.16 + 0.32 + 8 = 8.48.
	is(t, "gpu", shop.Extended["nvidia.com/gpu"], "3.773584905660377358 nvidia.com/gpu/three@3.773584905660377358")
	if len(other.Extended) != 0 {
		t.Errorf("a GPU has no price elsewhere: %v", other.Extended)
	}
}

func TestOpenCostJSON(t *testing.T) {
	b := parse(t, "opencost/aws.json")
	r := b.Node(nil, "")
	is(t, "30% and 10% off", r.CPU, "0.031611 0.01991493 cpu")
	is(t, "off memory too", r.Memory, "0.004237 0.00266931 memory")
	is(t, "nothing off GPUs", r.Extended["nvidia.com/gpu"], "0.95 nvidia.com/gpu")
	is(t, "nor off storage", b.Storage("", ""), "0.00005479452 storage")
	n := m5()
	n.Labels["kops.k8s.io/instancegroup"] = "spotinstance-nodes"
	is(t, "a label of its own", b.Node(n, "").CPU, "0.006655 0.00419265 cpu/spot-label")

	b = parse(t, "opencost/fallback.json")
	r = b.Node(nil, "")
	is(t, "fallback cpu", r.CPU, "0.021811 cpu")
	is(t, "fallback memory", r.Memory, "0.002923 memory")
	n = m5()
	n.Labels["cloud.google.com/gke-spot"] = "true"
	r = b.Node(n, "")
	is(t, "fallback spot cpu", r.CPU, "0.006543 cpu/spot")
	is(t, "fallback spot memory", r.Memory, "0.000877 memory/spot")
	is(t, "fallback spot gpu", r.Extended["nvidia.com/gpu"], "0.308 nvidia.com/gpu/spot")
	if b.Name != "fallback" || !b.NotCharged()["internetNetworkEgress"].Equal(dec("0.12")) {
		t.Errorf("book %s, not charged %v", b.Name, b.NotCharged())
	}

	for text, want := range map[string]string{
		`{"CPU": "1", "RAM": "2"}`:                                         "1:1: storage is missing",
		`{"CPU": "", "RAM": "2", "storage": "1"}`:                          `1:9: "" is not a decimal number`,
		`{"CPU": "-1", "RAM": "2", "storage": "1"}`:                        `1:9: "-1" is negative`,
		"{\n\t\"CPU\": \"x\", \"RAM\": \"2\", \"storage\": \"1\"}":         `2:9: "x" is not a decimal number`,
		`{"CPU": "1", "RAM": "2", "storage": "1", "spotCpu": "1"}`:         `1:42: unknown key "spotCpu" (did you mean spotCPU`,
		`{"CPU": "1", "RAM": "2", "storage": "1", "currencyCode": "EURO"}`: `1:58: unknown currency "EURO"`,
		`{"CPU": "1", "RAM": "2", "storage": "1", "discount": "30"}`:       `1:54: "30" is not a fraction below 1`,
		`{"CPU": "1", "CPU": "2", "RAM": "2", "storage": "1"}`:             "1:14: a second CPU: expected one",
		`{"CPU": null, "RAM": "2", "storage": "1"}`:                        "1:9: expected a price",
		`{"CPU": "NaN", "RAM": "2", "storage": "1"}`:                       `1:9: "NaN" is not a decimal number`,
	} {
		refused(t, text, "c.json", text, []string{want})
	}
	is(t, "a printed float", parseText(t, "c.json", `{"CPU": "3.1611e-02", "RAM": 2, "storage": "5.479452E-05"}`).Storage("", ""), "0.00005479452 storage")
}

func TestOpenCostCSV(t *testing.T) {
	b := parse(t, "opencost/nodes.csv")
	// 4 cores at 0.031611 and 16 GiB at 0.004237 are 0.194236 by the default prices.
	is(t, "by name", b.Node(m5(), "").CPU, "0.031247101464198192 cpu/worker-a@0.031247101464198192")
	n := m5()
	n.Name = "worker-b"
	is(t, "by the end of the provider ID", b.Node(n, "").CPU, "0.016274532012603225 cpu/i-0abc@0.016274532012603225")
	n = m5()
	n.Name, n.ProviderID, n.Labels["example.com/usage"] = "worker-c", "aws:///eu-central-1a/xi-0abc", "Reserved"
	is(t, "by label", b.Node(n, "").CPU, "0.106564821891925287 cpu/Reserved@0.106564821891925287")
	is(t, "by nothing", b.Node(gpuNode(), "").CPU, "0.031611 cpu")
	is(t, "class", b.Storage("fast", ""), "0.000137 storage/fast")
	is(t, "no class", b.Storage("slow", ""), "0.00005479452 storage")
	is(t, "volume", b.Claim(&metrics.Claim{Volume: "pvc-08e1f205", Class: "fast"}), "0.000072 volume/pvc-08e1f205")

	b = parse(t, "opencost/class.csv") // without heads
	price := func(kind, region string) string {
		n := m5()
		n.Labels = map[string]string{"node.kubernetes.io/instance-type": kind, "topology.kubernetes.io/region": region}
		r := b.Node(n, "")
		return r.CPU.List.Mul(dec("4")).Add(r.Memory.List.Mul(dec("16"))).Round(12).String()
	}
	for at, want := range map[[2]string]string{
		{"cax11", "fsn1"}: "0.0061", {"cax11", "nbg1"}: "0.194236", {"cx22", "fsn1"}: "0.0068", {"cx22", "hel1"}: "0.194236", {"cx32", "hel1"}: "0.01", {"other", "fsn1"}: "0.194236",
	} {
		if got := price(at[0], at[1]); got != want {
			t.Errorf("%v costs %s, want %s", at, got, want)
		}
	}

	b = parseText(t, "b.csv", "InstanceID,Region,AssetClass,InstanceIDField,MarketPriceHourly\nworker-a,,node,metadata.name,1\nworker-a,eu-central-1,node,metadata.name,2\n")
	if got := b.Matched(m5(), ""); !slices.Equal(got, []string{"worker-a", "override-2"}) || b.Document().Overrides[0].Node.Price.String() != "2" {
		t.Errorf("a region goes before all: %v", got)
	}

	b = parse(t, "opencost/gpu.csv")
	r := b.Node(gpuNode(), "")
	is(t, "beside GPUs", r.CPU, "0.048255911581968339 cpu/OnDemand@0.048255911581968339")
	is(t, "gpu on top", r.Extended["nvidia.com/gpu"], "0.5 nvidia.com/gpu/A100-ondemand")
	if r := b.Node(m5(), ""); len(r.Extended) != 0 {
		t.Errorf("a model in no row has no price: %v", r.Extended)
	}
}

// TestCSVRefused: OpenCost leaves out what is wrong in its CSV, and this does not.
func TestCSVRefused(t *testing.T) {
	const head = "EndTimestamp,InstanceID,Region,AssetClass,InstanceIDField,InstanceType,MarketPriceHourly,Version\n"
	for rows, want := range map[string]string{
		"":                                                         "1:1: the file has no prices",
		",a,,node,metadata.name,,x,\n":                             `2:25: "x" is not a decimal number`,
		",a,,node,metadata.name,,-1,\n":                            `2:25: "-1" is negative`,
		",a,,node,metadata.name,,,\n":                              `2:25: "" is not a decimal number`,
		",a,,nod,metadata.name,,1,\n":                              `2:5: unknown asset class "nod": expected node, pv or gpu (did you mean node?)`,
		",a,,gpulabel,foo,,1,\n":                                   `2:5: unknown asset class "gpulabel"`,
		",a,,node,metadata.labels.,,1,\n":                          `2:10: "" is not a label key`,
		",a,,node,metadata.annotations.x,,1,\n":                    "2:10: \"metadata.annotations.x\" is not a field that identifies a node",
		",a,,pv,spec.capacity.storage,,1,\n":                       "2:8: \"spec.capacity.storage\" is not a field that identifies a pv",
		",A_b,,node,metadata.name,,1,\n":                           `2:12: "A_b" cannot be a node name`,
		",,,pv,metadata.name,,1,\n":                                "2:2: the InstanceID is missing",
		",a,,node,metadata.name,,1\n":                              "2:1: 7 fields: expected the 8 of the columns",
		",a,,node,metadata.name,,1,\n,a,,node,metadata.name,,2,\n": `3:2: "a" has another price on line 2`,
		",a,eu,pv,spec.storageClassName,,1,\n,a,us,pv,spec.storageClassName,,2,\n": `3:2: "a" has another price in another row: the region`,
		",\"a,,node\n": "not CSV",
	} {
		refused(t, rows, "b.csv", head+rows, []string{want})
	}
	refused(t, "letters of several bytes", "b.csv", head+"ä,ö,,gpu,x,,viel,\n", []string{`2:13: "viel"`})
	refused(t, "a wrong column", "b.csv", "EndTimestamp,InstanceId,AssetClass,InstanceIDField,MarketPriceHourly\n", []string{`1:14: unknown column "InstanceId" (did you mean InstanceID`})
	refused(t, "a missing column", "b.csv", "InstanceID,AssetClass,InstanceIDField\n", []string{"1:1: the column MarketPriceHourly is missing"})
	refused(t, "an unknown end of a name", "prices.txt", head+",a,,disk,x,,1,\n", []string{"2:5: unknown asset class"})
	if _, problems := cost.ParseBook("b.csv", []byte("# a comment\n"+head+"\n# another\n,a,,node,metadata.name,,1,\n,a,,node,metadata.name,,1.0,\n")); len(problems) > 0 {
		t.Errorf("comments, and one price twice: %v", problems)
	}
}
