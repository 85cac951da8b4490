package definition

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// setting is a pod setting that users may need to set through a custom resource.
type setting uint8

const (
	setsResources setting = iota
	setsNodes
	setsPodAffinity
	setsSpread
	setsTolerations
	setsServiceAccount
	setsSecurityContext
	setsPodLabels
	setsReplicas
)

// settableShapes tell for each setting whether a field sets it. They compare the name and the
// shape: a map with the name resources is not enough, and neither are requests and limits in
// the claim of a volume.
var settableShapes = [...]func(*schemaNode) bool{
	setsResources:       settableResources,
	setsNodes:           settableNodes,
	setsPodAffinity:     settablePodAffinity,
	setsSpread:          settableSpread,
	setsTolerations:     settableTolerations,
	setsServiceAccount:  settableServiceAccount,
	setsSecurityContext: settableSecurityContext,
	setsPodLabels:       settablePodLabels,
	setsReplicas:        settableReplicas,
}

// settableHas reports whether an object has all the given fields.
func settableHas(p *apiextensionsv1.JSONSchemaProps, names ...string) bool {
	for _, name := range names {
		if _, ok := p.Properties[name]; !ok {
			return false
		}
	}
	return true
}

// settableSome reports whether an object has at least n of the given fields.
func settableSome(p *apiextensionsv1.JSONSchemaProps, n int, names ...string) bool {
	for _, name := range names {
		if _, ok := p.Properties[name]; ok {
			n--
		}
	}
	return n <= 0
}

// settableFree reports whether a field takes an object with an open schema.
func settableFree(p *apiextensionsv1.JSONSchemaProps) bool {
	return schemaOpen(p) && len(p.Properties) == 0
}

// settableMap reports whether a field takes any keys, with texts or any values.
func settableMap(p *apiextensionsv1.JSONSchemaProps) bool {
	return p.Type == "object" && p.AdditionalProperties != nil && (p.AdditionalProperties.Allows || p.AdditionalProperties.Schema != nil) || settableFree(p)
}

// settableItem returns the items of a list; the field itself where it is no list.
func settableItem(p *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	if p.Items != nil && p.Items.Schema != nil {
		return p.Items.Schema
	}
	return p
}

// settableNamed reports whether the name of a field ends with a word, in any case and
// spelling.
func settableNamed(n *schemaNode, words ...string) bool {
	name := strings.ToLower(n.name)
	if strings.ContainsAny(name, "_-") {
		name = strings.NewReplacer("_", "", "-", "").Replace(name)
	}
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(name, w) })
}

// settableClaim reports whether an object is the claim of a volume, whose requests are for
// storage.
func settableClaim(p *apiextensionsv1.JSONSchemaProps) bool {
	return settableSome(p, 1, "accessModes", "storageClassName", "storageClass", "volumeMode", "volumeName", "volumeClaimTemplate")
}

func settableResources(n *schemaNode) bool {
	p := n.props
	if n.up != nil && settableClaim(n.up.props) || settableClaim(p) || settableVolume(n) {
		return false
	}
	switch {
	case settableHas(p, "limits", "requests"):
		return settableQuantities(p, "limits") && settableQuantities(p, "requests")
	case settableNamed(n, "resources", "resource", "resourcerequirements"):
		// Without limits next to requests: cpu and memory by themselves, or an open object.
		return settableFree(p) || settableHas(p, "cpu", "memory")
	}
	// The cores and the memory of a Spark driver are both requests and limits.
	return settableHas(p, "cores", "memory")
}

// settableQuantities reports whether a field maps resources to amounts, or names them.
func settableQuantities(p *apiextensionsv1.JSONSchemaProps, name string) bool {
	amounts := p.Properties[name]
	if settableMap(&amounts) {
		return true
	}
	_, cpu := amounts.Properties["cpu"]
	_, memory := amounts.Properties["memory"]
	return cpu || memory
}

// settableVolume reports whether a field is within a volume or its claim.
func settableVolume(n *schemaNode) bool {
	for at := n; at != nil; at = at.up {
		if settableNamed(at, "volumeclaimtemplate", "volumeclaimtemplates", "persistentvolumeclaim", "volumes", "pvc", "ephemeral", "storage", "persistence") {
			return true
		}
	}
	return false
}

// settableAny reports whether a field takes an object, or any value.
func settableAny(p *apiextensionsv1.JSONSchemaProps) bool { return p.Type == "object" || schemaOpen(p) }

func settableNodes(n *schemaNode) bool {
	switch {
	case settableNamed(n, "nodeselector", "nodeselectors"):
		return settableAny(n.props) || n.props.Type == "array"
	case settableNamed(n, "nodeaffinity"):
		return settableAny(n.props)
	}
	return settableOpenAffinity(n)
}

// settableOpenAffinity reports whether a field is an affinity without a schema for its parts.
func settableOpenAffinity(n *schemaNode) bool {
	return settableNamed(n, "affinity") && settableFree(n.props)
}

func settablePodAffinity(n *schemaNode) bool {
	return settableNamed(n, "podaffinity") && settableAny(n.props) || settableOpenAffinity(n)
}

// settableSpread matches anti-affinity and topology spread: either keeps replicas apart. Where
// an operator makes the terms by itself, a switch or a topology key is enough.
func settableSpread(n *schemaNode) bool {
	if !n.field() {
		return false
	}
	if settableNamed(n, "antiaffinity", "antiaffinitytype", "antiaffinitytopologykey", "antiaffinityenabled", "antiaffinitypreset") || settableOpenAffinity(n) {
		return true
	}
	item := settableItem(n.props)
	return settableHas(item, "topologyKey") && settableSome(item, 1, "maxSkew", "whenUnsatisfiable") ||
		settableNamed(n, "topologyspreadconstraints", "topologyspread") && settableFree(item)
}

func settableTolerations(n *schemaNode) bool {
	if !n.field() || !settableNamed(n, "tolerations") {
		return false
	}
	item := settableItem(n.props)
	return settableSome(item, 2, "key", "operator", "effect", "value", "tolerationSeconds") || settableFree(item)
}

var settableAccountName = pattern(`(?i)^(pods?|driver|executor|workload)?serviceAccount(Name|Template)?$`)

func settableServiceAccount(n *schemaNode) bool {
	if !settableAccountName().MatchString(n.name) || settableLogin(n) {
		return false
	}
	return n.props.Type == "string" || settableHas(n.props, "name") || settableHas(n.props, "metadata") || settableFree(n.props)
}

// settableLogin reports whether a field configures a login of the operator, where a service
// account is that of a token and not of pods.
func settableLogin(n *schemaNode) bool {
	for at := n.holder(); at != nil; at = at.holder() {
		name := strings.ToLower(at.name)
		for _, word := range []string{"auth", "login", "vault", "credential", "iam", "issuer"} {
			if strings.Contains(name, word) {
				return true
			}
		}
	}
	return false
}

func settableSecurityContext(n *schemaNode) bool {
	if !n.field() {
		return false
	}
	// Some operators take only the relevant parts.
	if settableNamed(n, "runasuser", "fsgroup") && n.props.Type == "integer" || n.name == "seccompProfile" {
		return true
	}
	return settableNamed(n, "securitycontext") && (settableFree(n.props) || settableSome(n.props, 1,
		"runAsUser", "runAsNonRoot", "runAsGroup", "fsGroup", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "allowPrivilegeEscalation", "seLinuxOptions"))
}

var (
	settableLabelsName = pattern(`(?i)^(pods?|additional|extra|common|custom|workload|template)_?labels$|^(additional|extra)PodLabels$`)
	settablePodParts   = pattern(`(?i)pod|template`)
	settablePod        = pattern(`(?i)pod([^d]|$)`)
	// settableOtherParts are the names of created objects other than pods, and of label
	// selectors.
	settableOtherParts = pattern(`(?i)service|ingress|secret|volume|claim|pvc|storage|pdb|budget|configmap|selector|match|backup|monitor|route|balancer|certificate|namespace|bucket|issuer|rule|expose`)
)

// settablePodLabels matches a map of labels for pods: by its name, as labels in the metadata
// of a pod template, or as labels of the whole or of one of its parts. The metadata of a
// template counts where labels are kept: the server prunes a plain object without fields.
func settablePodLabels(n *schemaNode) bool {
	if !n.field() {
		return false
	}
	if settableLabelsName().MatchString(n.name) {
		return settableMap(n.props)
	}
	holder := n.holder()
	if holder == nil {
		return false
	}
	for at := holder; at != nil; at = at.holder() {
		if settableOtherParts().MatchString(at.name) && !settablePod().MatchString(at.name) {
			return false
		}
	}
	if settableMetadata(n) && settablePodParts().MatchString(holder.name+" "+n.name) {
		return settableFree(n.props) || settableItem(holder.props).XEmbeddedResource
	}
	return n.name == "labels" && settableMap(n.props)
}

func settableMetadata(n *schemaNode) bool { return settableNamed(n, "metadata") }

// settableReplicas matches the number of pods, under the names that operators use.
func settableReplicas(n *schemaNode) bool {
	switch n.name {
	case "replicas", "replicaCount", "instances", "numberOfInstances":
		return n.props.Type == "integer"
	case "size", "clusterSize", "nodeCount", "count":
		// Deeper fields of these names count other things: bytes, attempts.
		return n.props.Type == "integer" && n.depth() <= 3
	}
	return false
}
