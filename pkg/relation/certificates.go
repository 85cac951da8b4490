package relation

import (
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// certificateRules reads who requests a certificate. Signers are names without an object, so
// neither a ClusterTrustBundle's signer nor a projection by signer makes a link here.
func certificateRules() []Rule {
	return []Rule{
		{Name: "signing-request-user", From: from(signingRequest), Relation: Serves, Via: Spec, To: "(user)", Field: "spec.username", Links: on(signingRequestUser)},
		{Name: "pod-certificate-pod", From: from(podCertificate), Relation: Serves, Via: Spec, To: "Pod", Field: "spec.podName", Untyped: true, Links: podCertificatePod},
		{Name: "pod-certificate-account", From: from(podCertificate), Relation: Needs, Via: Spec, To: "ServiceAccount", Field: "spec.serviceAccountName", Untyped: true, Links: podCertificateAccount},
		{Name: "pod-certificate-node", From: from(podCertificate), Relation: Needs, Via: Spec, To: "Node", Field: "spec.nodeName", Untyped: true, Links: podCertificateNode},
	}
}

// signingRequestUser: of users only kubelets and ServiceAccounts are objects. A request may outlive
// its node.
func signingRequestUser(r *certificatesv1.CertificateSigningRequest, _ object.Ref, emit EmitFunc) {
	l := Link{Target: Target{IfPresent: true}, Field: "spec.username", Value: r.Spec.Username}
	if name, ok := strings.CutPrefix(r.Spec.Username, "system:node:"); ok {
		l.Target.Kind, l.Target.Name = node, name
	} else {
		l.Target.Kind = serviceAccount
		l.Target.Namespace, l.Target.Name = userAccount(r.Spec.Username)
	}
	if l.Target.Name != "" {
		emit(l)
	}
}

func podCertificatePod(o object.Object, emit EmitFunc) {
	podCertificateOf(o, emit, to(pod, o.Namespace, "", "spec.podName"), "podUID")
}

func podCertificateAccount(o object.Object, emit EmitFunc) {
	podCertificateOf(o, emit, to(serviceAccount, o.Namespace, "", "spec.serviceAccountName"), "serviceAccountUID")
}

func podCertificateNode(o object.Object, emit EmitFunc) {
	podCertificateOf(o, emit, to(node, "", "", "spec.nodeName"), "nodeUID")
}

// podCertificateOf sets the UID of each object, since a new pod may reuse the name.
func podCertificateOf(o object.Object, emit EmitFunc, l Link, uid string) {
	spec := part(o.Fields(), "spec")
	l.Value, _ = part(spec, strings.TrimPrefix(l.Field, "spec.")).(string)
	id, _ := part(spec, uid).(string)
	l.Target.Name, l.Target.UID = l.Value, types.UID(id)
	if l.Value != "" {
		emit(l)
	}
}
