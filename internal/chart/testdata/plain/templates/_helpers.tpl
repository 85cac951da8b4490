{{- define "plain.labels" -}}
app: {{ .Release.Name }}
{{- end -}}
{{/* a comment with }} in it
*/}}
{{ define "plain.empty" }}{{ end }}
