{{- define "lenswatch.name" -}}
{{- .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Short enough for what is put behind it, such as -notify or -redis-0. */}}
{{- define "lenswatch.fullname" -}}
{{- $name := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) -}}
{{- $name | trunc 48 | trimSuffix "-" -}}
{{- end -}}

{{- define "lenswatch.selectorLabels" -}}
app.kubernetes.io/name: {{ include "lenswatch.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "lenswatch.labels" -}}
{{ include "lenswatch.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "lenswatch.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "lenswatch.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{- define "lenswatch.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "lenswatch.redisName" -}}
{{ include "lenswatch.fullname" . }}-redis
{{- end -}}

{{- define "lenswatch.configMapName" -}}
{{ .Values.existingConfigMap | default (include "lenswatch.fullname" .) }}
{{- end -}}

{{/* The configuration with what the chart knows better: where its own Redis is. */}}
{{- define "lenswatch.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $redis := deepCopy (get $config "redis" | default dict) -}}
{{- $given := or (hasKey $redis "url") (hasKey $redis "url_file") (hasKey $redis "sentinels") (hasKey $redis "cluster") -}}
{{- if and (not $given) (not .Values.redis.enabled) -}}
{{- fail "config.redis names no Redis: give its url, its sentinels or a cluster, or set redis.enabled for one of the chart's own" -}}
{{- end -}}
{{- if not $given -}}
{{- $login := ternary ":${LENSWATCH_REDIS_PASSWORD}@" "" (ne .Values.redis.existingSecret "") -}}
{{- $_ := set $redis "url" (printf "redis://%s%s:6379/0" $login (include "lenswatch.redisName" .)) -}}
{{- end -}}
{{- $_ := set $config "redis" $redis -}}
{{- toYaml $config -}}
{{- end -}}

{{/* Where the configuration says to listen; the image says 9595 where it does not. */}}
{{- define "lenswatch.port" -}}
{{- $http := get .Values.config "http" | default dict -}}
{{- get $http "listen" | default "0.0.0.0:9595" | toString | splitList ":" | last -}}
{{- end -}}

{{- define "lenswatch.redisSelectorLabels" -}}
app.kubernetes.io/name: {{ include "lenswatch.name" . }}-redis
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "lenswatch.redisLabels" -}}
{{ include "lenswatch.redisSelectorLabels" . }}
app.kubernetes.io/component: redis
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}
