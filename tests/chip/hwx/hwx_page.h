/* Prose of docs/hwx.md and docs/hwx_later.md. */
#ifndef TESTS_CHIP_HWX_HWX_PAGE_H
#define TESTS_CHIP_HWX_HWX_PAGE_H

extern const char hwx_page_head[], hwx_page_container[], hwx_page_tasks[], hwx_page_published[], hwx_page_against[];

/* Of docs/hwx_later.md. */
extern const char hwx_later_head[], hwx_later_files[], hwx_later_bars[], hwx_later_registers[], hwx_later_unseen[],
    hwx_later_end[];

#endif
