# cmake -DOUT=FILE.c -DHEADER=export/page.h -DFOLDER=lib/export -DPARTS=a.css,b.js -P embed.cmake: the parts of pages as arrays of a C file; page.js becomes
# `const char html_page_js[]`, ended by a zero.
string(REPLACE "," ";" PARTS "${PARTS}")
set(text "/* Made by embed.cmake. */\n#include \"${HEADER}\"\n")
foreach(part ${PARTS})
  file(READ ${FOLDER}/${part} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
  string(REPLACE "." "_" name "${part}")
  string(APPEND text "const char html_${name}[] = {\n${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
