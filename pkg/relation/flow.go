package relation

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// flowRules reads whose requests the API server queues where. FlowSchemas rarely name an account,
// so they are not listed for each question about a namespace.
func flowRules() []Rule {
	return []Rule{
		{Name: "flow-level", From: from(flowSchema), Relation: Needs, Via: Spec, To: "PriorityLevelConfiguration", Field: "spec.priorityLevelConfiguration.name", Links: on(flowLevel)},
		{Name: "flow-subject", From: from(flowSchema), Relation: Serves, Via: Spec, To: "(subject)", Field: "spec.rules[].subjects[]", Links: on(flowSubjects)},
	}
}

func flowLevel(f *flowcontrolv1.FlowSchema, _ object.Ref, emit EmitFunc) {
	named(emit, priorityLevel, "", f.Spec.PriorityLevelConfiguration.Name, "spec.priorityLevelConfiguration.name")
}

// flowSubjects: as in bindings, a subject may be all accounts of a namespace, here by the name "*".
// A user "*" is everybody and makes no link.
func flowSubjects(f *flowcontrolv1.FlowSchema, _ object.Ref, emit EmitFunc) {
	for i := range f.Spec.Rules {
		for j := range f.Spec.Rules[i].Subjects {
			s := &f.Spec.Rules[i].Subjects[j]
			path := at(at("spec.rules[", i, "].subjects["), j, "].")
			switch {
			case s.ServiceAccount != nil && s.ServiceAccount.Name == flowcontrolv1.NameAll:
				t := Target{Kind: serviceAccount, Namespace: s.ServiceAccount.Namespace, Selector: &Selector{}}
				emit(Link{Target: t, Field: path + "serviceAccount.name", Value: s.ServiceAccount.Name})
			case s.ServiceAccount != nil:
				named(emit, serviceAccount, s.ServiceAccount.Namespace, s.ServiceAccount.Name, path+"serviceAccount.name")
			case s.User != nil && s.User.Name != flowcontrolv1.NameAll:
				subjectUser(s.User.Name, path+"user.name", emit)
			case s.Group != nil && s.Group.Name != flowcontrolv1.NameAll:
				subjectGroup(s.Group.Name, path+"group.name", emit)
			}
		}
	}
}
