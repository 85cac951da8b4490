package cost

import (
	"github.com/shopspring/decimal"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/metrics"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// pods charges pods. Those of one stack come first: what stacks share may be split by
// what each of them has alone.
func (a *allocator) pods() {
	var later []*metrics.Pod
	for i := range a.reading.Pods {
		pod := &a.reading.Pods[i]
		stacks := a.stacksOf(pod.Ref)
		if len(stacks) > 1 {
			later = append(later, pod)
			continue
		}
		a.pod(pod, stacks)
	}
	for _, pod := range later {
		a.pod(pod, a.stacksOf(pod.Ref))
	}
}

// pod charges a pod for what it reserved and for its traffic.
func (a *allocator) pod(pod *metrics.Pod, stacks []object.Ref) {
	rates := a.ratesOf(pod.Node, pod.Ref.Namespace)
	c := Charge{Kind: Used, Item: pod.Ref, UID: string(pod.UID), Node: pod.Node, Namespace: pod.Ref.Namespace}
	for _, res := range [...]metrics.Resource{metrics.CPU, metrics.Memory} {
		a.reserve(&c, res, pod, rates, stacks)
	}
	for res := range rates.Extended {
		a.reserve(&c, res, pod, rates, stacks)
	}
	for res := range pod.Requested.All() {
		if _, own := rates.Extended[res]; isHugePages(res) && !own {
			a.reserve(&c, res, pod, rates, stacks)
		}
	}
	a.unpriced(pod, rates)
	if pod.HostNetwork {
		return
	}
	for _, res := range [...]metrics.Resource{metrics.Received, metrics.Sent} {
		amount, known := pod.Used.Lookup(res)
		if !known || amount.IsNegative() {
			continue
		}
		if price := a.book.Traffic(res, pod.Ref.Namespace); price.stated() {
			a.price(&c, res, amount, price, stacks)
		}
	}
}

// unpriced notes the extended resources of a pod without a price in the book: a GPU costs money,
// and the cost does not include it. A price of 0 means that it is free.
func (a *allocator) unpriced(pod *metrics.Pod, rates *Rates) {
	for res, amount := range pod.Requested.All() {
		if _, ok := rates.price(res); !ok && res.IsExtended() && amount.IsPositive() {
			a.note(metrics.Note{Subject: string(res), Reason: NoPrice, LowersFigures: true, Message: "the price book has no price for it: pods are not charged for it"})
		}
	}
}

// price charges an amount of a resource.
func (a *allocator) price(c *Charge, res metrics.Resource, amount decimal.Decimal, price Price, stacks []object.Ref) {
	c.Resource = res
	c.Quantity, c.Unit = quantity(res, amount)
	c.List, c.Price, c.SKU = price.List, price.Net, price.SKU
	a.charge(c, stacks)
}

// reserve charges a pod for what it reserved of a resource, where that is known and
// has a price.
func (a *allocator) reserve(c *Charge, res metrics.Resource, pod *metrics.Pod, rates *Rates, stacks []object.Ref) {
	price, ok := rates.price(res)
	if amount, known := reserved(pod, res); ok && known {
		a.price(c, res, amount, price, stacks)
	}
}

// reserved returns what a pod is charged for of a resource. Where the source did not
// compare samples, it is the larger of the request and the usage that are known.
func reserved(pod *metrics.Pod, res metrics.Resource) (amount decimal.Decimal, known bool) {
	if amount, known = pod.Charged.Lookup(res); known {
		return amount, !amount.IsNegative()
	}
	amount, known = pod.Requested.Lookup(res)
	if used, ok := pod.Used.Lookup(res); ok && (!known || used.GreaterThan(amount)) {
		amount, known = used, true
	}
	return amount, known && !amount.IsNegative()
}

// balancers charges load balancers for their hours.
func (a *allocator) balancers() {
	for i := range a.reading.LoadBalancers {
		balancer := &a.reading.LoadBalancers[i]
		namespace := balancer.Service.Namespace
		price := a.book.Balancer(namespace)
		if !price.stated() || balancer.Hours.IsNegative() {
			continue
		}
		c := Charge{Kind: Used, Item: balancer.Service, Namespace: namespace}
		a.price(&c, LoadBalancer, balancer.Hours, price, a.stacksOf(balancer.Service))
	}
}
