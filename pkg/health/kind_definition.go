package health

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// definitionKinds are the kinds that define other kinds. Their Go types are in modules of their
// own, so they are evaluated as maps.
func definitionKinds() []kindRule {
	return []kindRule{
		definition(),
		mapped("apiregistration.k8s.io", "v1", "APIService", apiServiceHealth),
	}
}

// mapped returns the rule of a kind that is evaluated on its status as maps.
func mapped(group, version, kind string, evaluate func(*subject) Health) kindRule {
	return kindRule{group, version, kind, func(s *subject) (Health, bool) {
		if s.fields == nil {
			return Health{}, false
		}
		return evaluate(s), true
	}}
}

// definition returns the rule of CustomResourceDefinitions. They are huge, and in a cluster they
// are read as metadata, which shows only that they exist.
func definition() kindRule {
	rule := mapped("apiextensions.k8s.io", "v1", "CustomResourceDefinition", definitionHealth)
	whole := rule.evaluate
	rule.evaluate = func(s *subject) (Health, bool) {
		if _, partial := s.Body.(*metav1.PartialObjectMetadata); partial {
			return newHealth(Healthy, s.createdAt(), Exists, "it exists; its status was not read"), true
		}
		return whole(s)
	}
	return rule
}

// definitionHealth: see CustomResourceDefinitionConditionType of
// k8s.io/apiextensions-apiserver.
func definitionHealth(s *subject) Health {
	names, established := saidIn(s.status, "NamesAccepted"), saidIn(s.status, "Established")
	structure, ending := saidIn(s.status, "NonStructuralSchema"), saidIn(s.status, "Terminating")
	switch {
	case ending.yes():
		return ending.as(Progressing, "Terminating", "it is being deleted, and its objects with it")
	case names.no():
		return names.as(Degraded, "NamesNotAccepted", "its names are taken")
	case structure.yes():
		return structure.as(Degraded, "NonStructuralSchema", "its schema is not structural, so its objects are not pruned")
	case established.yes():
		return established.as(Healthy, "Established", "it is served")
	case established.no() && established.reason != "Installing":
		return established.as(Degraded, "NotEstablished", "it is not served")
	}
	return established.as(Progressing, "Installing", "it is not served yet")
}

// apiServiceHealth: an unavailable API is down, unless it is new.
func apiServiceHealth(s *subject) Health {
	up := saidIn(s.status, "Available")
	switch {
	case up.yes():
		return up.as(Healthy, "Available", "it answers")
	case up.found():
		h := up.as(Degraded, "NotAvailable", "it does not answer")
		if !s.lasted(s.createdAt(), warmUp) {
			h.Status = Progressing
		}
		return h
	}
	return newHealth(s.progressingUntil(s.createdAt(), startTimeout), s.createdAt(), "NotObserved", "its availability was not checked yet")
}
