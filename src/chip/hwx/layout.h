/* Records of files as rows: a number's place in the file and in the structure. One table reads, writes and shows. */
#ifndef MW__HWX_LAYOUT_H
#define MW__HWX_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

typedef enum mw__hwx_show { MW__HWX_HEX, MW__HWX_DECIMAL, MW__HWX_NAME } mw__hwx_show;

typedef struct mw__hwx_field {
    const char *name;
    uint16_t at;     /* in the record of the file */
    uint8_t size;    /* bytes there: 1, 2, 4 into a uint32_t, 8 into a uint64_t, 16 into a char[17] */
    uint8_t show;    /* mw__hwx_show */
    uint16_t member; /* in the structure */
    uint16_t count;  /* of an array; 0 = 1 */
} mw__hwx_field;

typedef struct mw__hwx_layout {
    const mw__hwx_field *fields;
    size_t count;
} mw__hwx_layout;

extern const mw__hwx_layout mw__hwx_header_layout, mw__hwx_segment_layout, mw__hwx_section_layout,
    mw__hwx_binding_layout, mw__hwx_binding_64_layout, mw__hwx_thread_layout, mw__hwx_program_layout,
    mw__hwx_program_note_layout, mw__hwx_port_layout, mw__hwx_segment_state_layout, mw__hwx_note_layout,
    mw__hwx_symtab_layout, mw__hwx_symbol_layout, mw__hwx_relocation_layout, mw__hwx_ane_layout;

/* Numbers of a file, least byte first. */
void mw__hwx_put32(uint8_t *at, uint32_t value);

/* Bytes that the record needs. */
size_t mw__hwx_layout_size(const mw__hwx_layout *layout);
void mw__hwx_layout_read(const mw__hwx_layout *layout, const uint8_t *bytes, void *out);
void mw__hwx_layout_write(const mw__hwx_layout *layout, const void *from, uint8_t *bytes);

#endif
