package graph

import "github.com/kubectl-sysop/kubectl-sysop/pkg/object"

// IsBoundary says whether stacks stand on the object and never go beyond it.
// These are the cluster's shared ground and its classes: to follow one would
// join every stack that stands on it.
func IsBoundary(r object.Ref) bool {
	switch r.Group {
	case "":
		switch r.Kind {
		case "Node", "Namespace":
			return true
		case "ServiceAccount":
			return r.Name == "default"
		case "ConfigMap":
			return r.Name == "kube-root-ca.crt"
		case "Service": // the API server, which anybody may address
			return r.Namespace == "default" && r.Name == "kubernetes"
		}
	case "storage.k8s.io":
		return r.Kind == "StorageClass" || r.Kind == "VolumeAttributesClass" || r.Kind == "CSIDriver"
	case "snapshot.storage.k8s.io":
		return r.Kind == "VolumeSnapshotClass"
	case "networking.k8s.io":
		return r.Kind == "IngressClass"
	case "gateway.networking.k8s.io":
		return r.Kind == "GatewayClass"
	case "scheduling.k8s.io":
		return r.Kind == "PriorityClass"
	case "node.k8s.io":
		return r.Kind == "RuntimeClass"
	case "resource.k8s.io":
		return r.Kind == "DeviceClass"
	case "flowcontrol.apiserver.k8s.io":
		return r.Kind == "PriorityLevelConfiguration"
	case "rbac.authorization.k8s.io":
		return r.Kind == "ClusterRole" || r.Kind == "User" || r.Kind == "Group" // and who is no object
	case "apiextensions.k8s.io":
		return r.Kind == "CustomResourceDefinition"
	}
	return false
}
