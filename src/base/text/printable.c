/* Showing foreign text: what is escaped, where it is cut, and a printf that does both. Allocates nothing. */
#include "base/text/printable.h"
#include "base/text/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- characters ---- */

enum { UNIT_MAX = 16 }; /* of one character, escaped */

/* Characters that a terminal obeys, and those of the general category Cf and Z that reorder, hide or end text. */
bool mw__printable_hides(unsigned code)
{
    static const struct {
        unsigned first, last;
    } hidden[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},   {0x180e, 0x180e},   {0x200b, 0x200f},
        {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
    };
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    }
    return false;
}

/* One character as it is shown. Returns how many bytes of `s` it took. */
static size_t show_unit(const char *s, size_t size, char unit[UNIT_MAX])
{
    uint32_t code = 0;
    const size_t length = mw__utf8_read(s, s + size, &code);
    if (length == 0) {
        snprintf(unit, UNIT_MAX, "\\x%02x", (unsigned)(unsigned char)s[0]);
        return 1;
    }
    if (!mw__printable_hides(code)) {
        memcpy(unit, s, length);
        unit[length] = '\0';
    } else if (code == '\n' || code == '\r' || code == '\t') {
        snprintf(unit, UNIT_MAX, "\\%c", code == '\n' ? 'n' : code == '\r' ? 'r' : 't');
    } else {
        snprintf(unit, UNIT_MAX, code < 0x80 ? "\\x%02x" : "\\u%04x", code);
    }
    return length;
}

/* ---- strings ---- */

/* Where it goes. `length` counts on where nothing fits any more; one unit is written whole or not at all. */
typedef struct sink {
    char *out;
    size_t capacity;
    size_t length;
    bool full;
} sink;

static void put_text(sink *to, const char *text, size_t size)
{
    if (!to->full && size < to->capacity - to->length)
        memcpy(to->out + to->length, text, size);
    else
        to->full = true;
    if (!to->full)
        to->out[to->length + size] = '\0';
    to->length += to->full ? 0 : size;
}

/* The length of `size` bytes as they are shown; past `limit`, any number above it. */
static size_t measure_shown(const char *s, size_t size, size_t limit)
{
    size_t length = 0;
    char unit[UNIT_MAX];
    for (size_t i = 0; i < size && length <= limit;) {
        i += show_unit(s + i, size - i, unit);
        length += strlen(unit);
    }
    return length;
}

/* From the front, as much as `limit` bytes show. */
static void put_head(sink *to, const char *s, size_t size, size_t limit)
{
    char unit[UNIT_MAX];
    for (size_t i = 0; i < size;) {
        i += show_unit(s + i, size - i, unit);
        const size_t length = strlen(unit);
        if (length > limit)
            return;
        put_text(to, unit, length);
        limit -= length;
    }
}

/* Where the end begins that `limit` bytes show. */
static size_t find_tail(const char *s, size_t size, size_t limit)
{
    size_t start = size - (limit < size ? limit : size);
    while (start < size && mw__utf8_continues(s[start]))
        start++;
    char unit[UNIT_MAX];
    while (start < size && measure_shown(s + start, size - start, limit) > limit)
        start += show_unit(s + start, size - start, unit);
    return start;
}

static void put_shown(sink *to, const char *s, size_t size, size_t longest)
{
    static const char gap[] = "...";
    if (measure_shown(s, size, longest) <= longest) {
        put_head(to, s, size, longest);
        return;
    }
    const size_t room = longest > sizeof gap - 1 ? longest - (sizeof gap - 1) : 0;
    const size_t tail = room / 3; /* names begin with what tells most, and end with the next best */
    put_head(to, s, size, room - tail);
    put_text(to, gap, sizeof gap - 1 < longest ? sizeof gap - 1 : longest);
    const size_t start = find_tail(s, size, tail);
    put_head(to, s + start, size - start, tail);
}

/* ---- printf ---- */

typedef struct arguments {
    va_list list;
} arguments;

typedef struct conversion {
    char text[32]; /* "%-5ld", for snprintf, with the stars filled in */
    size_t length;
    int width;     /* negative = to the left */
    int precision; /* -1 = none */
    bool counted;  /* the precision was an argument */
    char size;     /* 'h', 'l', 'L' (long long), 'z', 'j', 't' or 0 */
    char kind;
} conversion;

static void keep_letter(conversion *c, char letter)
{
    if (c->length + 1 < sizeof c->text)
        c->text[c->length++] = letter;
    c->text[c->length] = '\0';
}

static void keep_number(conversion *c, int number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%d", number);
    for (const char *d = digits; *d != '\0'; d++)
        keep_letter(c, *d);
}

/* number := '*' | digits */
static int read_number(conversion *c, const char **at, arguments *args, bool *out_star)
{
    int number = 0;
    *out_star = **at == '*';
    if (*out_star) {
        (*at)++;
        number = va_arg(args->list, int);
        if (number != 0)
            keep_number(c, number);
        return number;
    }
    while (**at >= '0' && **at <= '9') {
        number = number < 10000 ? number * 10 + (**at - '0') : number;
        keep_letter(c, *(*at)++);
    }
    return number;
}

static void read_size(conversion *c, const char **at)
{
    while (**at != '\0' && strchr("hlzjtL", **at) != NULL) {
        c->size = c->size == 'l' && **at == 'l' ? 'L' : **at;
        keep_letter(c, *(*at)++);
    }
}

/* conversion := '%' flags number? ('.' number?)? size? letter; `*at` is behind the '%'. */
static conversion read_conversion(const char **at, arguments *args)
{
    conversion c = {.precision = -1};
    keep_letter(&c, '%');
    bool left = false, star = false;
    while (**at != '\0' && strchr("-+ #0", **at) != NULL) {
        left |= **at == '-';
        keep_letter(&c, *(*at)++);
    }
    c.width = read_number(&c, at, args, &star);
    if (left && c.width > 0)
        c.width = -c.width;
    if (**at == '.') {
        keep_letter(&c, *(*at)++);
        c.precision = read_number(&c, at, args, &c.counted);
    }
    read_size(&c, at);
    c.kind = **at;
    if (c.kind != '\0')
        keep_letter(&c, *(*at)++);
    return c;
}

/* A locale's decimal point, whatever its bytes. */
static void mend_point(char *number)
{
    char *write = number;
    bool foreign = false;
    for (const char *read = number; *read != '\0'; read++) {
        const bool known = strchr(" +-0123456789.abcdefinptxABCDEFINPTX", *read) != NULL;
        if (known)
            *write++ = *read;
        else if (!foreign)
            *write++ = '.';
        foreign = !known;
    }
    *write = '\0';
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* c.text is one conversion of a format that was checked */
#pragma GCC diagnostic ignored "-Wformat-security"

enum { NUMBER_MAX = 400 }; /* of %f: 309 digits, and what stands behind the point */

static void print_signed(char *out, const conversion *c, arguments *args)
{
    if (c->size == 'L')
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, long long));
    else if (c->size == 'l')
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, long));
    else if (c->size == 'j')
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, intmax_t));
    else if (c->size == 'z' || c->size == 't')
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, ptrdiff_t));
    else
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, int));
}

static void print_unsigned(char *out, const conversion *c, arguments *args)
{
    if (c->size == 'L')
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, unsigned long long));
    else if (c->size == 'l')
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, unsigned long));
    else if (c->size == 'j')
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, uintmax_t));
    else if (c->size == 'z' || c->size == 't')
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, size_t));
    else
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, unsigned));
}

static void print_number(char *out, const conversion *c, arguments *args)
{
    out[0] = '\0';
    switch (c->kind) {
    case 'd':
    case 'i':
        print_signed(out, c, args);
        break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        print_unsigned(out, c, args);
        break;
    case 'p':
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, void *));
        break;
    default:
        snprintf(out, NUMBER_MAX, c->text, va_arg(args->list, double));
        mend_point(out);
    }
}

#pragma GCC diagnostic pop

static void pad(sink *to, int count)
{
    for (; count > 0; count--)
        put_text(to, " ", 1);
}

static void put_padded(sink *to, const conversion *c, const char *s, size_t size, size_t longest)
{
    const size_t length = c->width != 0 ? measure_shown(s, size, longest) : 0;
    const int missing = abs(c->width) - (int)(length < longest ? length : longest);
    if (c->width > 0)
        pad(to, missing);
    put_shown(to, s, size, longest);
    if (c->width < 0)
        pad(to, missing);
}

static void put_string(sink *to, const conversion *c, const char *s, size_t longest)
{
    if (s == NULL)
        s = "(none)";
    const size_t size = c->counted && c->precision >= 0 ? strnlen(s, (size_t)c->precision) : strlen(s);
    if (!c->counted && c->precision >= 0 && (size_t)c->precision < longest)
        longest = (size_t)c->precision;
    put_padded(to, c, s, size, longest);
}

static void put_conversion(sink *to, const char **at, arguments *args, size_t longest)
{
    const conversion c = read_conversion(at, args);
    char number[NUMBER_MAX];
    if (c.kind == '%') {
        put_text(to, "%", 1);
    } else if (c.kind == 's') {
        put_string(to, &c, va_arg(args->list, const char *), longest);
    } else if (c.kind == 'c') {
        number[0] = (char)va_arg(args->list, int);
        put_padded(to, &c, number, 1, longest);
    } else {
        print_number(number, &c, args);
        put_text(to, number, strlen(number));
    }
}

/* One attempt with strings of at most `longest` bytes; false if it did not fit. */
static bool print(sink *to, const char *format, va_list list, size_t longest)
{
    arguments args;
    va_copy(args.list, list);
    to->length = 0;
    to->full = false;
    to->out[0] = '\0';
    for (const char *at = format; *at != '\0' && !to->full;) {
        const size_t plain = strcspn(at, "%");
        for (size_t i = 0; i < plain; i++) {
            size_t character = 1;
            while (i + character < plain && mw__utf8_continues(at[i + character]))
                character++;
            put_text(to, at + i, character);
            i += character - 1;
        }
        at += plain;
        if (*at == '%') {
            at++;
            put_conversion(to, &at, &args, longest);
        }
    }
    va_end(args.list);
    return !to->full;
}

size_t mw__printable_vprintf(char *out, size_t capacity, const char *format, va_list list)
{
    sink to = {.out = out, .capacity = capacity};
    if (print(&to, format, list, capacity))
        return to.length;
    size_t low = 8, high = capacity; /* the most that still fits lies between them, or nothing does */
    while (high - low > 1 && high > low) {
        const size_t middle = low + (high - low) / 2;
        if (print(&to, format, list, middle))
            low = middle;
        else
            high = middle;
    }
    print(&to, format, list, low);
    return to.length;
}

size_t mw__printable_printf(char *out, size_t capacity, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const size_t length = mw__printable_vprintf(out, capacity, format, list);
    va_end(list);
    return length;
}

const char *mw__printable(char *out, size_t capacity, const char *string)
{
    sink to = {.out = out, .capacity = capacity};
    out[0] = '\0';
    put_shown(&to, string, strlen(string), capacity - 1);
    return out;
}

void mw__text_show(mw__text *text, const char *string, size_t longest)
{
    char shown[1024];
    const size_t capacity = longest < sizeof shown ? longest + 1 : sizeof shown;
    mw__text_puts(text, mw__printable(shown, capacity, string));
}
