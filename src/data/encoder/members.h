/* What JSON has of an encoder: a row for each member, from which it is written and read. */
#ifndef MW__DATA_ENCODER_MEMBERS_H
#define MW__DATA_ENCODER_MEMBERS_H

#include "data/encoder/encoder.h"

typedef enum mw__encoder_member_kind {
    MW__MEMBER_TEXT,
    MW__MEMBER_CHOICE, /* one of `choices` */
    MW__MEMBER_NUMBER,
    MW__MEMBER_WHOLE, /* int64_t, 0 or more */
    MW__MEMBER_BOOL,
    MW__MEMBER_WORDS
} mw__encoder_member_kind;

typedef struct mw__encoder_member {
    const char *key;
    mw__encoder_member_kind kind;
    size_t offset;              /* in the field, target or window */
    const char *const *choices; /* by the value of the enumeration; NULL behind the last */
} mw__encoder_member;

/* Each ends with a key of NULL. */
extern const mw__encoder_member mw__encoder_field_members[], mw__encoder_target_members[], mw__encoder_window_members[];

#define MW__ENCODER_VERSION 1

#endif
