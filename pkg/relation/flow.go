package relation

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// flowRules reads whose requests the API server queues where. Few schemas name an
// account: they are not worth a list for every question about a namespace.
func flowRules() []Rule {
	return []Rule{
		{Name: "flow-level", From: from(flowSchema), Relation: Needs, Via: Spec, To: "PriorityLevelConfiguration", Field: "spec.priorityLevelConfiguration.name", Links: on(flowLevel)},
		{Name: "flow-subject", From: from(flowSchema), Relation: Serves, Via: Spec, To: "ServiceAccount", Field: "spec.rules[].subjects[]", Links: on(flowSubjects)},
	}
}

func flowLevel(f *flowcontrolv1.FlowSchema, _ object.Ref, emit Emit) {
	named(emit, priorityLevel, "", f.Spec.PriorityLevelConfiguration.Name, "spec.priorityLevelConfiguration.name")
}

// flowSubjects: an account may also stand there as the user that it becomes. All
// accounts of a namespace are a group, whichever way they are written, and groups
// are no objects.
func flowSubjects(f *flowcontrolv1.FlowSchema, _ object.Ref, emit Emit) {
	for i := range f.Spec.Rules {
		for j := range f.Spec.Rules[i].Subjects {
			s := &f.Spec.Rules[i].Subjects[j]
			path := at(at("spec.rules[", i, "].subjects["), j, "].")
			switch {
			case s.Kind == flowcontrolv1.SubjectKindServiceAccount && s.ServiceAccount != nil && s.ServiceAccount.Name != flowcontrolv1.NameAll:
				named(emit, serviceAccount, s.ServiceAccount.Namespace, s.ServiceAccount.Name, path+"serviceAccount.name")
			case s.Kind == flowcontrolv1.SubjectKindUser && s.User != nil:
				if namespace, name := userAccount(s.User.Name); namespace != "" && name != "" {
					l := to(serviceAccount, namespace, name, path+"user.name")
					l.Value = s.User.Name
					emit(l)
				}
			}
		}
	}
}
