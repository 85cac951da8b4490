package health

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	migrationv1 "k8s.io/api/storagemigration/v1"
)

// requestKinds are the kinds with which a client asks the control plane for something, or informs
// it.
func requestKinds() []kindRule {
	return []kindRule{
		typed("certificates.k8s.io", "v1", "CertificateSigningRequest", signingHealth),
		typed("certificates.k8s.io", "v1", "PodCertificateRequest", podCertificateHealth),
		typed("resource.k8s.io", "v1", "ResourceClaim", deviceClaimHealth),
		typed("resource.k8s.io", "v1", "DeviceTaintRule", deviceTaintHealth),
		typed("flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", flowSchemaHealth),
		typed("admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy", admissionPolicyHealth),
		typed("storagemigration.k8s.io", "v1", "StorageVersionMigration", migrationHealth),
		typed("scheduling.k8s.io", "v1beta1", "PodGroup", podGroupHealth),
	}
}

func signingHealth(s *subject, r *certificatesv1.CertificateSigningRequest) Health {
	state := func(kind certificatesv1.RequestConditionType) stated {
		return find(r.Status.Conditions, kind, saidOfRequest)
	}
	approved := state(certificatesv1.CertificateApproved)
	for _, kind := range []certificatesv1.RequestConditionType{certificatesv1.CertificateDenied, certificatesv1.CertificateFailed} {
		if c := state(kind); c.yes() {
			return c.as(Degraded, string(kind), "no certificate was given")
		}
	}
	switch {
	case len(r.Status.Certificate) > 0:
		return newHealth(Healthy, approved.since, "Issued", "the certificate is signed by %s", r.Spec.SignerName)
	case approved.yes():
		return newHealth(Progressing, approved.since, "Approved", "it is approved, and waits for %s to sign it", r.Spec.SignerName)
	}
	return newHealth(Progressing, s.createdAt(), "Pending", "it waits to be approved")
}

func podCertificateHealth(s *subject, r *certificatesv1.PodCertificateRequest) Health {
	for _, kind := range []string{certificatesv1.PodCertificateRequestConditionTypeDenied, certificatesv1.PodCertificateRequestConditionTypeFailed} {
		if c := find(r.Status.Conditions, kind, saidOf); c.yes() {
			return c.as(Degraded, kind, "no certificate was given")
		}
	}
	if c := find(r.Status.Conditions, certificatesv1.PodCertificateRequestConditionTypeIssued, saidOf); c.yes() {
		return c.as(Healthy, "Issued", "the certificate is signed")
	}
	return newHealth(Progressing, s.createdAt(), "Pending", "it waits for %s to sign it", r.Spec.SignerName)
}

// deviceClaimHealth: devices are allocated for the first pod that uses the claim, so an unallocated
// one is like a volume claim that waits.
func deviceClaimHealth(s *subject, c *resourcev1.ResourceClaim) Health {
	switch {
	case c.Status.Allocation == nil:
		return newHealth(Progressing, s.createdAt(), "NotAllocated", "no devices are allocated, or no pod uses it yet")
	case len(c.Status.ReservedFor) == 0:
		return newHealth(Healthy, time.Time{}, "Allocated", "devices are allocated, and unused")
	}
	return newHealth(Healthy, time.Time{}, "Reserved", "devices are allocated, for %d users", len(c.Status.ReservedFor))
}

func deviceTaintHealth(s *subject, r *resourcev1.DeviceTaintRule) Health {
	if c := find(r.Status.Conditions, resourcev1.DeviceTaintConditionEvictionInProgress, saidOf); c.yes() {
		return c.as(Progressing, "EvictionInProgress", "pods are being evicted")
	}
	return s.exists()
}

func flowSchemaHealth(s *subject, f *flowcontrolv1.FlowSchema) Health {
	if c := find(f.Status.Conditions, flowcontrolv1.FlowSchemaConditionDangling, saidOfFlowSchema); c.yes() {
		return Health{Status: Degraded, Reason: c.kind, Message: or(c.message, "the priority level that it names does not exist"), Since: c.since}
	}
	return s.exists()
}

// admissionPolicyHealth: type checking warnings are mentioned, and do not count. The check covers
// all kinds that the policy matches, and an expression that does not fit one may never be evaluated
// on it.
func admissionPolicyHealth(s *subject, p *admissionv1.ValidatingAdmissionPolicy) Health {
	if p.Status.ObservedGeneration > 0 {
		if h, stale := s.stale(p.Status.ObservedGeneration); stale {
			return h
		}
	}
	if check := p.Status.TypeChecking; check != nil && len(check.ExpressionWarnings) > 0 {
		first := check.ExpressionWarnings[0]
		return newHealth(Healthy, s.createdAt(), "TypeCheckWarnings", "%d warnings of its type check; %s: %s", len(check.ExpressionWarnings), first.FieldRef, first.Warning)
	}
	return s.exists()
}

func migrationHealth(s *subject, m *migrationv1.StorageVersionMigration) Health {
	if c := find(m.Status.Conditions, string(migrationv1.MigrationFailed), saidOf); c.yes() {
		return c.as(Degraded, "MigrationFailed", "it has failed")
	}
	if c := find(m.Status.Conditions, string(migrationv1.MigrationSucceeded), saidOf); c.yes() {
		return c.as(Healthy, "MigrationSucceeded", "all objects are stored in the newest version")
	}
	if c := find(m.Status.Conditions, string(migrationv1.MigrationRunning), saidOf); c.yes() {
		return c.as(Progressing, "MigrationRunning", "it runs")
	}
	return newHealth(Progressing, s.createdAt(), "MigrationPending", "it has not started")
}

func podGroupHealth(s *subject, g *schedulingv1beta1.PodGroup) Health {
	if c := find(g.Status.Conditions, "DisruptionTarget", saidOf); c.yes() {
		return c.as(Progressing, "DisruptionTarget", "it is about to be evicted")
	}
	placed := find(g.Status.Conditions, schedulingv1beta1.PodGroupInitiallyScheduled, saidOf)
	switch {
	case placed.yes():
		return placed.as(Healthy, "Scheduled", "its pods were scheduled")
	case placed.no():
		return placed.as(s.progressingUntil(placed.since, decisionGrace), "Unschedulable", "its pods cannot be scheduled together")
	}
	return newHealth(Progressing, s.createdAt(), "NotScheduled", "no scheduler has processed it yet")
}
