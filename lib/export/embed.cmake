# cmake -DOUT=FILE.c -DPREFIX=html -DHEADER=export/page.h -DFOLDER=lib/export -DPARTS=a.css,b.js -P embed.cmake: files as arrays of a C file; page.js becomes
# `const char html_page_js[]`, ended by a zero.
string(REPLACE "," ";" PARTS "${PARTS}")
set(text "/* Made by embed.cmake. */\n#include \"${HEADER}\"\n")
foreach(part ${PARTS})
  file(READ ${FOLDER}/${part} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${bytes}")
  string(REPLACE "." "_" name "${part}")
  string(APPEND text "const char ${PREFIX}_${name}[] = {\n${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
