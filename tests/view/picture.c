#include "picture.h"

#include "support/check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

char *picture_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    if (text != NULL && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/* ---- XML ---- */

enum { DEPTH = 64, NAME = 32, ATTRIBUTES = 24 };

typedef struct reader {
    const char *begin, *at, *wrong;
    char open[DEPTH][NAME];
    size_t depth;
} reader;

static bool fail(reader *r, const char *why)
{
    r->wrong = r->wrong != NULL ? r->wrong : why;
    return false;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '-' || c == ':' || c == '_' || c == '.'; }

static bool read_name(reader *r, char out[NAME])
{
    size_t length = 0;
    while (is_name(r->at[length]) && length < NAME - 1)
        length++;
    if (length == 0 || is_name(r->at[length]) || isdigit((unsigned char)r->at[0]))
        return fail(r, "no name where one is wanted");
    memcpy(out, r->at, length);
    out[length] = '\0';
    r->at += length;
    return true;
}

static bool read_entity(reader *r)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;", "&#160;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strncmp(r->at, known[i], strlen(known[i])) == 0) {
            r->at += strlen(known[i]);
            return true;
        }
    }
    return fail(r, "an ampersand that begins no entity of XML");
}

/* One character of text or of an attribute. */
static bool read_character(reader *r)
{
    const unsigned char c = (unsigned char)*r->at;
    if (c == '&')
        return read_entity(r);
    if (c < 0x20 && c != '\n' && c != '\t')
        return fail(r, "a control character");
    const size_t length = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < length; i++)
        if (((unsigned char)r->at[i] & 0xc0) != 0x80)
            return fail(r, "no UTF-8");
    if ((c >= 0x80 && c < 0xc2) || strncmp(r->at, "\xef\xbf\xbe", 3) == 0 || strncmp(r->at, "\xef\xbf\xbf", 3) == 0)
        return fail(r, "no character of XML");
    r->at += length;
    return true;
}

static void skip_spaces(reader *r)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
}

static bool read_value(reader *r)
{
    if (*r->at != '=' || (r->at[1] != '"' && r->at[1] != '\''))
        return fail(r, "an attribute without quotes");
    const char quote = r->at[1];
    r->at += 2;
    while (*r->at != quote) {
        if (*r->at == '\0' || *r->at == '<')
            return fail(r, "an attribute that does not end");
        if (!read_character(r))
            return false;
    }
    r->at++;
    return true;
}

static bool read_attributes(reader *r)
{
    char names[ATTRIBUTES][NAME];
    size_t count = 0;
    for (;;) {
        const char *before = r->at;
        skip_spaces(r);
        if (*r->at == '>' || *r->at == '/' || *r->at == '?')
            return true;
        if (r->at == before || count == ATTRIBUTES)
            return fail(r, "no space before an attribute, or too many of them");
        if (!read_name(r, names[count]) || !read_value(r))
            return false;
        for (size_t i = 0; i < count; i++)
            if (strcmp(names[i], names[count]) == 0)
                return fail(r, "an attribute that is there twice");
        count++;
    }
}

static bool is_void(const char *name) { return strcmp(name, "meta") == 0 || strcmp(name, "br") == 0; }

static bool read_tag(reader *r)
{
    char name[NAME];
    if (strncmp(r->at, "<!DOCTYPE html>", 15) == 0) {
        r->at += 15;
        return true;
    }
    if (r->at[1] == '/') {
        r->at += 2;
        if (!read_name(r, name) || *r->at++ != '>')
            return fail(r, "a closing tag that does not end");
        if (r->depth == 0 || strcmp(r->open[--r->depth], name) != 0)
            return fail(r, "a closing tag that closes another");
        return true;
    }
    r->at++;
    if (!read_name(r, name) || !read_attributes(r))
        return false;
    const bool closed = *r->at == '/';
    r->at += closed;
    if (*r->at++ != '>')
        return fail(r, "a tag that does not end");
    if (closed || is_void(name))
        return true;
    if (r->depth == DEPTH)
        return fail(r, "too deep");
    memcpy(r->open[r->depth++], name, NAME);
    return true;
}

bool picture_is_xml(const char *text, const char *what)
{
    reader r = {.begin = text, .at = text};
    while (*r.at != '\0' && r.wrong == NULL) {
        if (*r.at == '<')
            read_tag(&r);
        else if (*r.at == '>')
            fail(&r, "a > in text");
        else
            read_character(&r);
        if (r.depth > 0 && strcmp(r.open[r.depth - 1], "style") == 0) { /* CSS has its own */
            const char *end = strstr(r.at, "</style>");
            r.at = end != NULL ? end : r.at;
        }
    }
    if (r.depth > 0)
        fail(&r, "tags that are not closed");
    return check_note(r.wrong == NULL, __FILE__, __LINE__, "%s: %s at byte %zu: %.60s", what,
                      r.wrong != NULL ? r.wrong : "", (size_t)(r.at - r.begin), r.at);
}

/* ---- alone ---- */

bool picture_is_alone(const char *text, const char *what)
{
    static const char *const forbidden[] = {"<script",     "javascript:", "@import", "url(http",   "<iframe",
                                            "<object",     "<link",       "<embed",  " onload=\"", " onclick=\"",
                                            " onerror=\"", "src=\"http",  "src=\"/"};
    bool good = true;
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        good =
            check_note(strstr(text, forbidden[i]) == NULL, __FILE__, __LINE__, "%s has %s", what, forbidden[i]) && good;
    for (const char *at = text; (at = strstr(at, "://")) != NULL; at++) /* the name of SVG is no address */
        good = check_note(at - text > 10 && strncmp(at, "://www.w3.org/2000/svg\"", 23) == 0, __FILE__, __LINE__,
                          "%s has an address: %.60s", what, at) &&
               good;
    for (const char *at = text; (at = strstr(at, "href=")) != NULL; at++)
        good = check_note(at[6] == '#', __FILE__, __LINE__, "%s leads to elsewhere: %.40s", what, at) && good;
    return good;
}

/* ---- texts of an SVG ---- */

typedef struct label {
    double from, to, y, size;
    const char *text;
} label;

static double attribute(const char *element, const char *end, const char *name, double otherwise)
{
    const char *at = strstr(element, name);
    return at != NULL && at < end ? strtod(at + strlen(name), NULL) : otherwise;
}

static bool has(const char *element, const char *end, const char *part)
{
    const char *at = strstr(element, part);
    return at != NULL && at < end;
}

/* Letters up to the next tag; an entity is one. */
static size_t letters(const char *text)
{
    size_t count = 0;
    for (; *text != '<' && *text != '\0'; text++) {
        if (*text == '&')
            text += strcspn(text, ";");
        count += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return count;
}

static label read_label(const char *element)
{
    const char *end = strchr(element, '>');
    const double size = attribute(element, end, "font-size=\"", 12);
    const double width = 0.62 * size * (double)letters(end + 1);
    const double x = attribute(element, end, " x=\"", -1);
    const double part = has(element, end, "=\"end\"") ? 1 : has(element, end, "=\"middle\"") ? 0.5 : 0;
    return (label){.from = x - part * width,
                   .to = x + (1 - part) * width,
                   .y = attribute(element, end, " y=\"", -1),
                   .size = size,
                   .text = end + 1};
}

static bool is_over(const label *a, const label *b)
{
    const double apart = a->y > b->y ? a->y - b->y : b->y - a->y;
    return apart < (a->size + b->size) / 2 * 0.8 && a->from < b->to && b->from < a->to;
}

static int by_height(const void *a, const void *b)
{
    const label *x = a, *y = b;
    return x->y < y->y ? -1 : x->y > y->y;
}

size_t picture_check_texts(const char *svg, const char *what)
{
    size_t count = 0, room = 1024;
    label *labels = malloc(room * sizeof *labels);
    const char *box = strstr(svg, "viewBox=\"0 0 ");
    char *next = NULL;
    const double width = box != NULL ? strtod(box + 13, &next) : 0, height = box != NULL ? strtod(next, NULL) : 0;
    for (const char *at = svg; labels != NULL && (at = strstr(at, "<text")) != NULL; at++) {
        if (count == room)
            labels = realloc(labels, (room *= 2) * sizeof *labels);
        labels[count++] = read_label(at);
    }
    if (labels == NULL)
        return 0;
    qsort(labels, count, sizeof *labels, by_height);
    for (size_t i = 0; i < count; i++) {
        const label *l = &labels[i];
        check_note(l->from >= 0 && l->to <= width && l->y - l->size >= 0 && l->y <= height, __FILE__, __LINE__,
                   "%s: \"%.*s\" leaves the picture of %g x %g: %g to %g at %g", what, (int)strcspn(l->text, "<"),
                   l->text, width, height, l->from, l->to, l->y);
        for (size_t k = i; k-- > 0 && labels[k].y > l->y - 40;)
            check_note(!is_over(&labels[k], l), __FILE__, __LINE__, "%s: \"%.*s\" is over \"%.*s\"", what,
                       (int)strcspn(labels[k].text, "<"), labels[k].text, (int)strcspn(l->text, "<"), l->text);
    }
    free(labels);
    return count;
}
