/* What is checked of an XML property list before libplist parses it: it bounds neither nesting nor the number of
 * elements, and what it makes of declarations need not concern us if there are none. */
#include "chip/netplist/netplist.h"

#include <string.h>

enum { DEPTH_MAX = 16, NAME_MAX_LENGTH = 8, UNESCAPING_MAX = 1 << 20 };

typedef struct scanner {
    const char *at, *end, *begin;
    const char *open[DEPTH_MAX]; /* names of the elements that are open */
    int depth;
    const char *text; /* where the text between two tags begins */
    size_t entities;  /* in it */
    mw_error *err;
} scanner;

static const char *const names[] = {"plist", "dict", "array", "key",  "string", "integer",
                                    "real",  "true", "false", "data", "date"};

static mw_status refuse_text(const scanner *s, const char *why)
{
    return mw__fail(s->err, MW_ERROR_FORMAT, "byte %zu of the property list: %s", (size_t)(s->at - s->begin), why);
}

static bool starts(const scanner *s, const char *word)
{
    const size_t length = strlen(word);
    return (size_t)(s->end - s->at) >= length && memcmp(s->at, word, length) == 0;
}

/* Goes behind the next `word`. */
static mw_status skip_word(scanner *s, const char *word)
{
    while (s->at < s->end && !starts(s, word))
        s->at++;
    if (s->at == s->end)
        return refuse_text(s, "it ends within a tag or a comment");
    s->at += strlen(word);
    return MW_OK;
}

/* The name of a tag, one of those that property lists have. */
static const char *read_name(scanner *s)
{
    size_t length = 0;
    while (s->at + length < s->end && length <= NAME_MAX_LENGTH && s->at[length] >= 'a' && s->at[length] <= 'z')
        length++;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], s->at, length) == 0) {
            s->at += length;
            return names[i];
        }
    return NULL;
}

static mw_status close_tag(scanner *s)
{
    s->at += 2;
    const char *name = read_name(s);
    if (name == NULL || s->depth == 0 || s->open[s->depth - 1] != name)
        return refuse_text(s, "an element ends that is not open");
    s->depth--;
    return skip_word(s, ">");
}

static mw_status open_tag(scanner *s)
{
    s->at++;
    const char *name = read_name(s);
    if (name == NULL)
        return refuse_text(s, "property lists have no such element");
    const char *begin = s->at;
    while (s->at < s->end && *s->at != '>' && *s->at != '<')
        s->at++;
    if (s->at == s->end || *s->at == '<')
        return refuse_text(s, "a tag does not end");
    if (begin != s->at && *begin != ' ' && *begin != '/')
        return refuse_text(s, "property lists have no such element");
    const bool empty = s->at > begin && s->at[-1] == '/';
    s->at++;
    if (empty)
        return MW_OK;
    if (s->depth == DEPTH_MAX)
        return refuse_text(s, "elements are nested deeper than 16");
    s->open[s->depth++] = name;
    return MW_OK;
}

static mw_status skip_doctype(scanner *s)
{
    while (s->at < s->end && *s->at != '>') {
        if (*s->at == '[')
            return refuse_text(s, "a document type that declares something");
        s->at++;
    }
    return s->at < s->end ? (s->at++, MW_OK) : refuse_text(s, "it ends within a tag or a comment");
}

/* One of XML's own five, or a number. */
static mw_status skip_entity(scanner *s)
{
    static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    s->entities++;
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
        if (starts(s, entities[i])) {
            s->at += strlen(entities[i]);
            return MW_OK;
        }
    if (!starts(s, "&#"))
        return refuse_text(s, "an entity that XML does not have");
    for (int i = 0; i < 10 && s->at < s->end; i++, s->at++)
        if (*s->at == ';') {
            s->at++;
            return MW_OK;
        }
    return refuse_text(s, "a character number that does not end");
}

static mw_status step(scanner *s)
{
    if (starts(s, "<!--"))
        return skip_word(s, "-->");
    if (starts(s, "<?"))
        return skip_word(s, "?>");
    if (starts(s, "<!DOCTYPE") && s->depth == 0)
        return skip_doctype(s);
    if (starts(s, "<!"))
        return refuse_text(s, "a declaration");
    if (starts(s, "</"))
        return close_tag(s);
    if (starts(s, "<"))
        return open_tag(s);
    if (starts(s, "&"))
        return skip_entity(s);
    if (*s->at == '\0')
        return refuse_text(s, "a NUL");
    s->at++;
    return MW_OK;
}

/* libplist moves the rest of a text for each entity in it, which takes its length times their number. */
static mw_status end_text(const scanner *s)
{
    const size_t length = (size_t)(s->at - s->text);
    return s->entities == 0 || length <= UNESCAPING_MAX / s->entities
               ? MW_OK
               : refuse_text(s, "a text with so many entities that its length times their number is above 2^20");
}

mw_status mw__net_scan(const char *data, size_t size, mw_error *err)
{
    scanner s = {.at = data, .begin = data, .end = data + size, .err = err};
    bool any = false;
    if (size >= 8 && memcmp(data, "bplist", 6) == 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "a binary property list is not read; plutil -convert xml1 makes an XML one of it");
    for (s.text = data; s.at < s.end; any = any || s.depth > 0) {
        const bool is_tag = *s.at == '<';
        if (is_tag)
            MW_TRY(end_text(&s));
        MW_TRY(step(&s));
        s.text = is_tag ? s.at : s.text;
        s.entities = is_tag ? 0 : s.entities;
    }
    return s.depth == 0 && any ? MW_OK
                               : refuse_text(&s, any ? "it ends with open elements" : "there is no property list");
}
