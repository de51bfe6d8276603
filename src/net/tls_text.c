/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls_text.h"

#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <stdio.h>

struct text {
    int reason;
    const char *text;
};

static const char *text_of(const struct text *texts, size_t count, int reason)
{
    for (size_t i = 0; i < count; i++) {
        if (texts[i].reason == reason)
            return texts[i].text;
    }
    return NULL;
}
#define FIND(texts, reason) text_of(texts, sizeof texts / sizeof texts[0], reason)

/* Texts for the results of verifying a certificate. */
static const struct text verify_texts[] = {
    {X509_V_ERR_CERT_HAS_EXPIRED, "certificate has expired"},
    {X509_V_ERR_CERT_NOT_YET_VALID, "certificate is not yet valid"},
    {X509_V_ERR_CERT_REVOKED, "certificate was revoked"},
    {X509_V_ERR_INVALID_PURPOSE, "certificate is not meant for this use"},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, "unknown authority"},
    {X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, "unknown authority"},
    {X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, "unknown authority"},
    {X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, "unknown authority"},
    {X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, "unknown authority: the certificate signs itself"},
};

/* Texts for mistakes of the other side in the handshake. */
static const struct text reason_texts[] = {
    {SSL_R_NO_APPLICATION_PROTOCOL, "no protocol in common (ALPN)"},
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, "the other side showed no certificate"},
    {SSL_R_NO_SHARED_CIPHER, "no cipher in common"},
    {SSL_R_NO_SUITABLE_KEY_SHARE, "no key exchange in common"},
    {SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM, "no signature algorithm in common"},
    {SSL_R_UNSUPPORTED_PROTOCOL, "no version in common: TLS 1.2 or 1.3 is required"},
    {SSL_R_VERSION_TOO_LOW, "no version in common: TLS 1.2 or 1.3 is required"},
    {SSL_R_HTTP_REQUEST, "the other side speaks plain HTTP, not TLS"},
    {SSL_R_HTTPS_PROXY_REQUEST, "the other side speaks plain HTTP, not TLS"},
    {SSL_R_WRONG_VERSION_NUMBER, "the other side does not speak TLS"},
    {SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC, "a record was damaged on its way"},
    {SSL_R_BAD_RECORD_TYPE, "the other side does not speak TLS"},
    {SSL_R_NO_RENEGOTIATION, "renegotiation was refused"},
};

/* Texts for alerts that the other side has sent. */
static const struct text alert_texts[] = {
    {SSL_AD_NO_APPLICATION_PROTOCOL, "no protocol in common (ALPN)"},
    {SSL_AD_UNKNOWN_CA, "unknown authority"},
    {SSL_AD_CERTIFICATE_EXPIRED, "certificate has expired"},
    {SSL_AD_CERTIFICATE_REQUIRED, "a certificate is required"},
    {SSL_AD_BAD_CERTIFICATE, "invalid certificate"},
    {SSL_AD_PROTOCOL_VERSION, "no version in common"},
    {SSL_AD_HANDSHAKE_FAILURE, "nothing in common, or no certificate"},
    {SSL_AD_NO_RENEGOTIATION, "no renegotiation"},
};

/*
 * Returns the first error in OpenSSL's list, which is the cause of the others, and empties the
 * list.
 */
static unsigned long take_error(bool *is_out_of_memory)
{
    unsigned long first = ERR_peek_error();
    unsigned long error;
    *is_out_of_memory = false;
    while ((error = ERR_get_error()) != 0) {
        if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE)
            *is_out_of_memory = true;
    }
    return first;
}

static const char *reason_of(unsigned long error)
{
    const char *reason = error ? ERR_reason_error_string(error) : NULL;
    return reason ? reason : "unknown reason";
}

static void verify_text(SSL *ssl, char *text, size_t size)
{
    long result = SSL_get_verify_result(ssl);
    const char *known = FIND(verify_texts, (int)result);
    const char *host = X509_VERIFY_PARAM_get0_host(SSL_get0_param(ssl), 0);
    if (result == X509_V_ERR_HOSTNAME_MISMATCH && host)
        (void)snprintf(text, size, "certificate has another name: expected %s", host);
    else if (result == X509_V_ERR_IP_ADDRESS_MISMATCH)
        (void)snprintf(text, size, "certificate has another name: expected the IP address");
    else
        (void)snprintf(text, size, "%s", known ? known : X509_verify_cert_error_string(result));
}

static void reason_text(unsigned long error, char *text, size_t size)
{
    int reason = ERR_GET_REASON(error);
    bool is_of_ssl = ERR_GET_LIB(error) == ERR_LIB_SSL;
    if (is_of_ssl && reason >= SSL_AD_REASON_OFFSET && reason < SSL_AD_REASON_OFFSET + 256) {
        const char *known = FIND(alert_texts, reason - SSL_AD_REASON_OFFSET);
        (void)snprintf(text,
                       size,
                       "the other side has refused: %s",
                       known ? known : SSL_alert_desc_string_long(reason - SSL_AD_REASON_OFFSET));
        return;
    }
    const char *known = is_of_ssl ? FIND(reason_texts, reason) : NULL;
    (void)snprintf(text, size, "%s", known ? known : reason_of(error));
}

tr_status tr__tls_text_of_connection(SSL *ssl, char *text, size_t size)
{
    bool is_out_of_memory;
    unsigned long error = take_error(&is_out_of_memory);
    if (is_out_of_memory) {
        (void)snprintf(text, size, "out of memory");
        return TR_NO_MEMORY;
    }
    if (ERR_GET_LIB(error) == ERR_LIB_SSL &&
        ERR_GET_REASON(error) == SSL_R_CERTIFICATE_VERIFY_FAILED)
        verify_text(ssl, text, size);
    else
        reason_text(error, text, size);
    return TR_TLS_FAILED;
}

tr_status tr__tls_text_of_call(const char *what, char *text, size_t size)
{
    bool is_out_of_memory;
    unsigned long error = take_error(&is_out_of_memory);
    (void)snprintf(
        text, size, "%s: %s", what, is_out_of_memory ? "out of memory" : reason_of(error));
    return is_out_of_memory ? TR_NO_MEMORY : TR_TLS_FAILED;
}
