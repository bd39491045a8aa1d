/* Patterns by PCRE2. */
#include "text/regex/regex.h"

#include "base/text/error.h"

#include <stdlib.h>

#if MW_HAVE_PCRE2

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* Steps of the matcher for one match: patterns that try again and again end here, not in an hour. */
enum { MOST_STEPS = 1000000 };

struct mw__regex {
    pcre2_code *code;
    pcre2_match_context *context;
};

mw__regex *mw__regex_create(const char *pattern, mw_error *err)
{
    int number = 0;
    size_t at = 0;
    mw__regex *regex = mw__alloc(NULL, 1, sizeof *regex, err);
    if (regex == NULL)
        return NULL;
    const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
    regex->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options, &number, &at, NULL);
    regex->context = pcre2_match_context_create(NULL);
    if (regex->code == NULL || regex->context == NULL) {
        PCRE2_UCHAR reason[120] = "";
        pcre2_get_error_message(number, reason, sizeof reason);
        mw__fail(err, MW_ERROR_UNSUPPORTED, "the pattern \"%.200s\" is not taken, at %zu: %s", pattern, at,
                 (const char *)reason);
        mw__regex_destroy(regex);
        return NULL;
    }
    pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE);
    pcre2_set_match_limit(regex->context, MOST_STEPS);
    return regex;
}

void mw__regex_destroy(mw__regex *regex)
{
    if (regex == NULL)
        return;
    pcre2_code_free(regex->code);
    pcre2_match_context_free(regex->context);
    mw__free(NULL, regex);
}

bool mw__regex_find(const mw__regex *regex, const char *text, size_t size, size_t at, size_t *begin, size_t *end,
                    mw_error *err)
{
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    const int found = match != NULL
                          ? pcre2_match(regex->code, (PCRE2_SPTR)text, size, at, PCRE2_NOTEMPTY, match, regex->context)
                          : PCRE2_ERROR_NOMEMORY;
    if (found >= 0) {
        *begin = pcre2_get_ovector_pointer(match)[0];
        *end = pcre2_get_ovector_pointer(match)[1];
    } else if (found != PCRE2_ERROR_NOMATCH) {
        mw__fail(err, MW_ERROR_UNSUPPORTED, "a pattern of the tokenizer does not come to an end (PCRE2 says %d)",
                 found);
    }
    pcre2_match_data_free(match);
    return found >= 0;
}

#else

mw__regex *mw__regex_create(const char *pattern, mw_error *err)
{
    mw__fail(err, MW_ERROR_UNSUPPORTED, "the pattern \"%.200s\" needs libpcre2; the library was built without it",
             pattern);
    return NULL;
}

void mw__regex_destroy(mw__regex *regex) { (void)regex; }

bool mw__regex_find(const mw__regex *regex, const char *text, size_t size, size_t at, size_t *begin, size_t *end,
                    mw_error *err)
{
    (void)regex, (void)text, (void)size, (void)at, (void)begin, (void)end, (void)err;
    return false;
}

#endif
