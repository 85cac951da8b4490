import{e}from"./chunk-3GOHPLMA.js";function t({page:o}){return e("section",{"aria-label":"compose",children:o.picture.title})}export{t as Compose};
