package view

import (
	"strconv"
	"strings"

	"github.com/kubectl-sysop/kubectl-sysop/internal/preflight"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/check"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/schedule"
)

// preflightRules are the topics as rules, for tools that collect findings.
func preflightRules() []FindingRule {
	rule := func(topic preflight.Topic, title, reason, fix string) FindingRule {
		return FindingRule{
			ID: "atomic-" + string(topic), Title: title, Why: reason, Fix: fix, Severity: check.Error, Tags: []string{"atomic", string(topic)},
			Sources: []string{"KubePlus (2020): atomic deployment"},
		}
	}
	return []FindingRule{
		rule(preflight.Admitted, "The API server admits every object and every pod", "A refused object is not created, and objects that need it wait.", "Fix what the server names in its refusal."),
		rule(preflight.References, "Every reference exists, or is in the batch", "A pod waits for a missing Secret, ConfigMap or volume, and only its events show it.", "Add what is missing to the batch, or correct the name."),
		rule(preflight.Quota, "The quotas of the namespaces have room for the whole", "A quota refuses pods one by one: the first are created, the last are not.", "Raise the quota, or request less."),
		rule(preflight.Limits, "The limit ranges of the namespaces allow every pod and claim", "A pod that requests more or less than allowed is refused when its controller creates it.", "Follow the limits, or change the LimitRange."),
		rule(preflight.Storage, "Every volume claim finds a volume", "A pod is not scheduled while one of its claims has no volume.", "Name a class that exists, or create the volume."),
		rule(preflight.Scheduling, "All pods find a node at the same time", "A pod that fits no node stays Pending, while the others run.", "Request less, add nodes, or relax the node requirements of the pods."),
	}
}

func (p *preflightView) findings() *Findings {
	suite := Suite{Name: "atomic", Properties: []Property{
		{"verdict", p.r.Verdict.String()}, {"objects", strconv.Itoa(p.o.Objects)}, {"pods", strconv.Itoa(p.r.Pods)},
	}}
	for _, topic := range preflight.Topics() {
		c := Case{Rule: "atomic-" + string(topic), Class: "atomic"}
		seen := false
		for i := range p.r.Findings {
			j := &p.r.Findings[i]
			if j.Topic != topic {
				continue
			}
			seen = true
			switch j.Verdict {
			case schedule.DoesNotFit:
				c.Findings = append(c.Findings, CaseFinding{
					Severity: check.Error, Object: j.Object, Origin: j.Origin, Field: j.Field, Value: j.Value, Reason: j.Reason, Message: withNodes(j), Remedy: j.Remedy,
				})
			case schedule.Unknown:
				c.Open = append(c.Open, CaseUnknown{Object: j.Object, Origin: j.Origin, Why: j.Message})
			default:
				c.Right++
			}
		}
		if seen {
			suite.Cases = append(suite.Cases, c)
		}
	}
	return &Findings{Name: "preflight", Rules: preflightRules(), Suites: []Suite{suite}, Gaps: p.o.Gaps, Notes: p.r.NotChecked}
}

// withNodes is the message of a finding with its reasons by node, which has no field of
// its own elsewhere.
func withNodes(j *preflight.Finding) string {
	if len(j.Nodes) == 0 {
		return j.Message
	}
	reasons := make([]string, 0, len(j.Nodes))
	for _, n := range j.Nodes {
		reasons = append(reasons, nodesNamed(n.Nodes)+": "+n.Message)
	}
	return j.Message + ": " + strings.Join(reasons, "; ")
}
