#pragma once
#include <curl/curl.h>

// Swift does not import variadic functions: one name for each kind of value that curl_easy_setopt and
// curl_easy_getinfo take. The parentheses keep curl's type-checking macros of the same names out.
static inline CURLcode tally_curl_set_long(CURL *handle, CURLoption option, long value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode tally_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode tally_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode tally_curl_set_pointer(CURL *handle, CURLoption option, const void *value) {
    return (curl_easy_setopt)(handle, option, value);
}
static inline CURLcode tally_curl_set_receiver(
    CURL *handle, CURLoption option, size_t (*receive)(char *, size_t, size_t, void *)) {
    return (curl_easy_setopt)(handle, option, receive);
}
// curl copies the bytes.
static inline CURLcode tally_curl_set_authority(CURL *handle, const void *bytes, size_t length) {
    struct curl_blob blob = {(void *) bytes, length, CURL_BLOB_COPY};
    return (curl_easy_setopt)(handle, CURLOPT_CAINFO_BLOB, &blob);
}
static inline CURLcode tally_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(handle, info, value);
}
static inline CURLcode tally_curl_global_init(void) {
    return curl_global_init(CURL_GLOBAL_DEFAULT);
}
