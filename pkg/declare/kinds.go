package declare

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-sysop/kubectl-sysop/pkg/field"
	"github.com/kubectl-sysop/kubectl-sysop/pkg/object"
)

// builtIn are the kinds that need no group, by their group.
var builtIn = map[string]string{
	"":                             "ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount",
	"apps":                         "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
	"batch":                        "CronJob Job",
	"autoscaling":                  "HorizontalPodAutoscaler",
	"policy":                       "PodDisruptionBudget",
	"networking.k8s.io":            "Ingress IngressClass IPAddress NetworkPolicy ServiceCIDR",
	"discovery.k8s.io":             "EndpointSlice",
	"storage.k8s.io":               "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
	"rbac.authorization.k8s.io":    "ClusterRole ClusterRoleBinding Role RoleBinding",
	"scheduling.k8s.io":            "PriorityClass",
	"node.k8s.io":                  "RuntimeClass",
	"coordination.k8s.io":          "Lease",
	"certificates.k8s.io":          "CertificateSigningRequest ClusterTrustBundle PodCertificateRequest",
	"admissionregistration.k8s.io": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
	"apiregistration.k8s.io":       "APIService",
	"apiextensions.k8s.io":         "CustomResourceDefinition",
	"flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
	"resource.k8s.io":              "DeviceClass ResourceClaim ResourceClaimTemplate ResourceSlice",
}

// builtInGroup returns the group of a built-in kind.
func builtInGroup(kind string) (string, bool) {
	group, ok := builtInGroups()[kind]
	return group, ok
}

// builtInGroups are the groups by kind: every rule of the catalog asks.
var builtInGroups = sync.OnceValue(func() map[string]string {
	groups := map[string]string{}
	for group, kinds := range builtIn {
		for kind := range strings.FieldsSeq(kinds) {
			groups[kind] = group
		}
	}
	return groups
})

// GroupKind reads a kind as a checked Spec has it: Kind.group, or the name of a
// built-in kind.
func GroupKind(text string) schema.GroupKind { return groupKind(text) }

// CheckKind says what is wrong with a kind as it is written; nothing is empty.
func CheckKind(text string) string {
	_, wrong := checkKind(text, nil)
	return wrong
}

// groupKind reads Kind.group, or the name of a built-in kind. What it is given
// was checked.
func groupKind(text string) schema.GroupKind {
	kind, group, ok := strings.Cut(text, ".")
	if !ok {
		group, _ = builtInGroup(kind)
	}
	return schema.GroupKind{Group: group, Kind: kind}
}

func groupKinds(texts []string) []schema.GroupKind {
	var all []schema.GroupKind
	for _, t := range texts {
		if t != Any {
			all = append(all, groupKind(t))
		}
	}
	return all
}

// Spell writes a kind as declarations do: Kind, or Kind.group for what is not
// built in.
func Spell(gk schema.GroupKind) string {
	if group, ok := builtInGroup(gk.Kind); ok && group == gk.Group {
		return gk.Kind
	}
	return gk.String()
}

// checkKind returns a kind in its canonical form, or what is wrong with it. kinds are those of
// the cluster, or nil.
func checkKind(text string, kinds *object.Kinds) (string, string) {
	name, group, grouped := strings.Cut(text, ".")
	_, known := builtInGroup(name)
	switch {
	case text == Any || !grouped && known:
		return text, ""
	case !kindName(name) || grouped && len(validation.IsDNS1123Subdomain(group)) > 0:
		return "", "is not a kind: expected Kind.group, or the name of a built-in kind"
	case grouped:
		return text, ""
	}
	if kinds != nil {
		r, err := kinds.Find(text)
		if err == nil && r.Kind == name {
			return Spell(r.GroupKind()), ""
		}
		return "", notFound(r, err, kinds)
	}
	var all []string
	for _, names := range builtIn {
		all = append(all, strings.Fields(names)...)
	}
	return "", "is not a built-in kind" + object.DidYouMean(object.Nearest(name, all)) + "; a custom one is written Kind.group"
}

// notFound says why a bare name is no kind of the cluster: r was found by it in
// another spelling, or there is an error.
func notFound(r object.Resource, err error, kinds *object.Kinds) string {
	unknown, ok := errors.AsType[*object.UnknownKindError](err)
	switch {
	case err == nil:
		return "is not a kind: did you mean " + Spell(r.GroupKind()) + "?"
	case !ok:
		return err.Error()
	}
	var near []string
	for _, name := range unknown.Nearest {
		if r, err := kinds.Find(name); err == nil && !slices.Contains(near, Spell(r.GroupKind())) {
			near = append(near, Spell(r.GroupKind()))
		}
	}
	return "is not a kind that the cluster serves" + object.DidYouMean(near) + ": expected Kind.group, or the name of a built-in kind"
}

func kindName(s string) bool {
	if s == "" || len(s) > 63 || s[0] >= '0' && s[0] <= '9' {
		return false // Most begin with a capital; postgresql.acid.zalan.do does not.
	}
	return strings.IndexFunc(s, func(r rune) bool { return r > 127 || !field.InWord(byte(r)) || r == '_' }) < 0
}
