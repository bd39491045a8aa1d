/* What tokenizers ask of characters: their classes, and the normal forms of Unicode. Properties are those of utf8proc;
 * without that library only ASCII is known. */
#ifndef MW__TEXT_UNICODE_UNICODE_H
#define MW__TEXT_UNICODE_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MW__CHAR_LETTER = 1,       /* \p{L} */
    MW__CHAR_NUMBER = 2,       /* \p{N} */
    MW__CHAR_SPACE = 4,        /* White_Space, \s */
    MW__CHAR_MARK = 8,         /* \p{M} */
    MW__CHAR_PUNCTUATION = 16, /* \p{P} */
    MW__CHAR_CONTROL = 32,     /* \p{C}: control, format, private, surrogate, unassigned */
    MW__CHAR_NONSPACING = 64   /* \p{Mn} */
};

/* Whether the properties of all characters are there. */
bool mw__unicode_is_whole(void);

/* The classes of ASCII. */
extern const uint8_t mw__unicode_ascii[128];
uint8_t mw__unicode_class_beyond(uint32_t code);
static inline uint8_t mw__unicode_class(uint32_t code)
{
    return code < 128 ? mw__unicode_ascii[code] : mw__unicode_class_beyond(code);
}

/* Upper and title case (Lu, Lt), lower case (Ll), or neither. */
typedef enum mw__letter_case { MW__CASE_NONE, MW__CASE_UPPER, MW__CASE_LOWER } mw__letter_case;
mw__letter_case mw__unicode_case(uint32_t code);

/* Class and length of the character at `at`, which is before `end`; a byte that begins none is a character without a
 * class. */
typedef struct mw__char {
    uint32_t code; /* of a stray byte 0x110000 and the byte */
    uint8_t class, length;
} mw__char;
mw__char mw__unicode_read(const char *at, const char *end);

/* Lower case of one character by its simple mapping, and the same by its full one: writes at most 3 codes. */
int mw__unicode_lower(uint32_t code, uint32_t out[3]);

typedef enum mw__unicode_form { MW__FORM_NFC, MW__FORM_NFD, MW__FORM_NFKC, MW__FORM_NFKD } mw__unicode_form;
/* Decomposes one character, whole; writes at most 18 codes, returns how many. */
int mw__unicode_decompose(uint32_t code, bool compatible, uint32_t out[18]);
/* The canonical combining class. */
int mw__unicode_combining(uint32_t code);
/* The character that two compose to; 0 = none. */
uint32_t mw__unicode_compose(uint32_t first, uint32_t second);

#endif
