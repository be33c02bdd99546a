"""Finds words and phrases that hint at an offer, a call, praise and the like."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from service.signals.text import Word


class Cue(IntEnum):
    """What a word or phrase hints at. A hint is no proof: detectors count several together."""

    OFFER = 0
    VICE = 1
    CALL = 2
    PITCH = 3
    PRAISE = 4
    YOU = 5
    ME = 6
    HEDGE = 7
    INTRO = 8
    SLIP = 9


# How entries are written: "discount*" is every word that begins so (the stem has four letters or
# more), "sign_up" is the words in a row, anything else is one whole word. Lower case throughout.
ENTRIES: dict[Cue, tuple[str, ...]] = {
    # What is offered, and on which terms.
    Cue.OFFER: (
        "discount* coupon* promo promos promotion* cashback rebate cheap cheapest affordable",
        "affordably wholesale bulk_order free_trial free_quote free_estimate free_consultation",
        "free_delivery free_shipping free_sample free_demo free_spins money_back lifetime",
        "guarantee*",
        "best_price best_prices best_quality lowest_price low_price low_prices special_offer",
        "limited_time limited_offer limited_stock in_stock deals bonus* supplier* manufacturer*",
        "distributor* reseller* provider* services agency agencies consultant* consultancy",
        "consultation professionals certified_experts experts expert_team expert_writers",
        "specialists",
        "solutions premium trusted reliable genuine top_rated award_winning 24_hour same_day",
        "same_day_delivery fast_delivery discreet packaging worldwide_shipping ships_worldwide",
        "shipping delivered_to installment* subscription* per_month monthly_plan pay_after",
        "clients",
        "customers satisfied_customers quotation turnkey custom_made tailor_made store shop",
        "outlet",
        "buy_2 buy_one buy_3 half_price half_off percent_off off_today sale rates hurry now_only",
        "in_one_click one_click 1_click without_prescription no_prescription results_in",
        "no_deposit",
        "free_plan free_tier referral promo_code discount_code coupon_code use_code with_code",
        "code_for my_link my_code reasonable_price good_price cash_on packages affordable_price",
        "enrol* enroll* admission_open certification_course online_course free_course masterclass",
        "webinar ebook free_guide premium_quality high_quality hot_sale factory_price unbeatable",
        "cod_available ready_to_ship dealer_wanted pay_after_live",
        "no_agent fast_cash free_first_lesson",
        "first_lesson_free totally_free trial_packs trial_pack days_trial",
        "day_trial free_check ayurvedic",
        "very_good_pay per_day per_week on_sale in_store stock manufacturer subsidi* seo_friendly",
        "#1_trusted life_time turn_key best_rate lowest_rate best_rates money_online discreetly",
        # German
        "rabatt* angebot* günstig* preiswert* billig* gutschein* kostenlos* gratis lieferung",
        "versand",
        "versandkostenfrei sparen testsieger onlineshop shop bestell* anbieter fachbetrieb",
        "festpreis*",
        "unverbindlich* dienstleist* zufriedenheitsgarantie garantiert rundum_service",
        "ratenzahlung",
        # French
        "réduction promotion* remise devis pas_cher moins_cher livraison livré* livrés gratuit*",
        "offre offres tarif* prix_imbattable* code_promo satisfait meilleur_prix dépannage",
        # Spanish, Portuguese, Italian
        "descuento* oferta* ofertas barato* barata* envío envíos gratis garantiza* cupón",
        "presupuesto",
        "promoción promocion* precio_especial precios mejores_precios sin_compromiso",
        "desconto* promoção promoções frete frete_grátis grátis barato orçamento garantido",
        "parcel*",
        "sconto sconti offerta offerte gratuito gratuita spedizione preventivo prezzi convenienti",
        # Dutch, Swedish, Finnish
        "korting* aanbieding* goedkoop* goedkope gratis offerte levering bestel* vrijblijvend",
        "rabatt* billig* erbjudande* fri_frakt frakt leverans kampanj* tarjous* alennus* ilmainen",
        "edullis* toimitus halvat halpa",
        # Polish, Czech, Romanian
        "rabat* promocj* zniżk* tani tanio tanie taniej darmow* dostaw* gwarancj* ofert*",
        "najtaniej",
        "slev* levn* zdarma doprava doručení nabídk* nejlevněj* akce reducere reduceri gratuit",
        # Turkish, Indonesian, Vietnamese, Filipino
        "indirim* ucuz* kampanya* ücretsiz bedava fırsat* uygun_fiyat* garantili teslimat",
        "diskon murah promo gratis ongkir terpercaya termurah gacor bonus",
        "giảm_giá khuyến_mãi giá_rẻ miễn_phí uy_tín giao_hàng bảo_hành",
        # Cyrillic
        "скидк* недорог* дешев* дёшев* бесплатн* доставк* гаранти* акция акции заказ* прайс цены",
        "купить знижк* дешев* безкоштовн* замов* гарант* промокод* оптом рассрочк* анонимно",
        # Greek, Hebrew, Arabic, Persian, Hindi (and Hindi in Latin letters)
        "έκπτωση εκπτώσεις προσφορ* δωρεάν φθην* αποστολή τιμές",
        "הנחה הנחות מבצע מבצעים חינם משלוח זול בזול מחיר מחירים",
        "خصم خصومات عرض عروض مجانا مجاناً بأقل الأسعار أسعار توصيل ضمان مضمونة مضمون الشحن",
        "تخفیف ارزان رایگان ارسال قیمت تضمینی فروش ویژه",
        "छूट ऑफर सस्ता सस्ते मुफ्त मुफ़्त गारंटी डिलीवरी sasta saste guaranteed",
    ),
    # Trades whose adverts fill comment boxes everywhere.
    Cue.VICE: (
        "casino* kasino* казино slot_machine slot_machines slot_game slot_games slot_online",
        "slots_online online_slot online_slots free_slot free_slots play_slots casino_slots gacor",
        "betting bet365 sportsbook poker roulette baccarat",
        "jackpot* gambling lottery togel judi escort_service escort_services escort_girl",
        "escort_girls escort_agency female_escort female_escorts escort_bayan bayan_escort",
        "escortlar viagra cialis sildenafil tadalafil tramadol* xanax ozempic kamagra",
        "weight_loss fat_burner belly_fat erectile male_enhancement cbd_gummies gummies keto",
        "payday loan loans lender* lending crypto* bitcoin_investment forex binary_options",
        "trading_bot",
        "trading_signals trading_platform copy_trading btc usdt recovery_expert fund_recovery",
        "recovery_agent recover_my lost_funds hacker hackers spell_caster spellcaster love_spell*",
        "herbal_doctor herbal_remedy herbalist herbal_mixture herbal_cure dr_osas prophet",
        "backlink* guest_post guest_posts guest_posting link_building seo_services seo_agency",
        "seo_company seo_expert rank_your instagram_followers followers_for_sale buy_followers",
        "iptv assignment_help essay_writing essay_writers essay_service dissertation_help",
        "thesis_help",
        "academic_writing academic_writers writing_service writing_services homework_help",
        "online_casino no_kyc airdrop* passive_income extra_income make_money earn_money",
        "work_from_home",
        "earn_from_home home_business money_online side_hustle visa_consultant*",
        "immigration_consultant*",
        "work_permit work_visa packers_and_movers movers_and_packers escorts call_girls mod_apk",
        "apk",
        "cracked_version activation_key activation_keys product_keys fake_documents fake_passport",
        "replica_watch replica_watches replica_bag replica_bags replica_handbags replica_rolex",
        "sugar_daddy double_your_bitcoin double_your_crypto",
        "kredit kredite geldanlage sofortkredit crédit_rapide crédit_sans prêt_rapide",
        "prêt_personnel",
        "prêt_sans prêt_entre prêt_d'argent offre_de_prêt préstamo préstamos prestamos empréstimo",
        "empréstimos emprestimo prestito prestiti",
        "кредит* займ* микрозайм* казіно pożyczk* chwilówk* půjčk* kredi bahis pinjaman",
        "judi_online",
        "sex porn porno* xxx sexcam* sex_cam* sex_chat* sex_shop* sex_toys sexdate* порно секс",
        "apuestas apostas scommesse gokken weddenschap* tragamonedas ruletas marabout voyance",
        "قرض قروض کازینو شرط_بندی جلب_الحبيب سحر הלוואה הלוואות קזינו δάνειο δάνεια καζίνο",
        "στοίχημα*",
        "लोन कैसीनो वशीकरण vashikaran astrologer* astrology satta",
        # Gambling
        "sportwetten wettanbieter glücksspiel* spielautomat* spielothek* paris_sportifs",
        "pari_sportif machines_à_sous jeux_d'argent tragaperras juegos_de_azar cassino cassinos",
        "caça_níqueis jogo_do_bicho jogos_de_azar casinò gioco_d'azzardo kasyn* bukmacher*",
        "gry_hazardowe automaty_do_gier hazardní_hry sázkov* sázky goksite* gokkast*",
        "spelautomat* vadslagning taruhan kumar_sitesi kumar_siteleri canlı_bahis sòng_bạc",
        "sòng_bài cá_cược cá_độ cờ_bạc nhà_cái nổ_hũ lô_đề xổ_số букмекер* ставки_на_спорт",
        "ставок_на_спорт ставки_онлайн спортивные_ставки игровые_автоматы игровых_автоматов",
        "онлайн_слоты слоты_онлайн азартные_игры азартні_ігри ігрові_автомати",
        "ставки_на_спортивні лотере* τζόγος הימורים كازينو مراهنات مراهنة قمار روليت شرطبندی",
        "کیسینو سٹہ सट्टा जुआ जुगार कॅसिनो ক্যাসিনো জুয়া বেটিং క్యాసినో జూదం బెట్టింగ్ கேசினோ காசினோ சூதாட்டம்",
        "சூதாட்ட",
        # Loans and coins
        "darlehen kredyt* lening leningen lån lånet snabblån smslån úvěr позика позики позику",
        "vay_tiền vay_nóng vay_vốn khoản_vay pinjol وام ঋণ লোন రుణం లోన్ கடன் லோன் mkopo mikopo",
        "kryptowährung* kryptowalut* kryptoměn* krypto cryptomonnaie* criptomoned* criptomoeda*",
        "criptovalut* cryptovaluta* kripto криптовалют* κρυπτονομίσματα tiền_ảo tiền_điện_tử",
        "العملات_الرقمية ارز_دیجیتال کرپٹو क्रिप्टो ক্রিপ্টো క్రిప్టో கிரிப்டோ",
        # Sex and pills
        "eskort_bayan acompanhantes_de_luxo gái_gọi phim_sex bokep porr porrfilm* проститутк*",
        "интим_услуги эскорт_услуги ескорт_послуги порнограф* πορνό פורנו إباحي سكس سکس پورن",
        "पोर्न पॉर्न एस्कॉर्ट পর্ন এসকর্ট పోర్న్ ఎస్కార్ట్ எஸ்கார்ட் ponografia potenzmittel виагра виагру",
        "віагра дженерики βιάγκρα فياجرا ویاگرا वियाग्रा ভায়াগ্রা",
        # Papers, fortunes and ranks
        "ghostwriter_agentur bachelorarbeit_schreiben rédaction_de_mémoire redacción_de_tesis",
        "monografia_pronta jasa_skripsi joki_skripsi tez_yazdırma tez_yazımı pisanie_prac",
        "diplomová_práce_na_zakázku viết_luận_văn_thuê курсовая_на_заказ диплом_на_заказ",
        "дипломная_на_заказ купить_диплом диплом_купить дипломна_на_замовлення انجام_پایان_نامه",
        "hellseher* wahrsager* kartenlegen amarres_de_amor cartomante* věštkyně spådam",
        "waarzegger* dukun pesugihan falcı medyum thầy_bói гадалк* ворожк* приворот* μέντιουμ",
        "فالگیر نجومی ज्योतिषी জ্যোতিষী జ్యోతిష్యుడు ஜோதிடர் zpětné_odkazy обратные_ссылки",
        "зворотні_посилання روابط_خلفية بک_لینک بیک_لنک बैकलिंक ব্যাকলিংক",
    ),
    # Asking the reader to do something that serves the writer.
    Cue.CALL: (
        "click_here click_on click_the click_below click_my visit_our visit_us visit_my visit_the",
        "visit_site visit_website visit_now please_visit kindly_visit check_out check_it check_my",
        "check_our checkout_our check_us order_now order_here order_at order_from order_today",
        "buy_now",
        "buy_here buy_from buy_online shop_now shop_at book_now book_your book_a book_online",
        "call_us",
        "call_now call_today call_me contact_us contact_me contact_him contact_her contact_them",
        "contact_now contact_dr reach_us reach_me reach_him reach_out reach_them get_in_touch",
        "message_me message_us dm_me dm_us inbox_me text_me write_me write_him write_to write_us",
        "email_me email_us whatsapp telegram wechat t_me viber whatsapp_me add_me sign_up signup",
        "join_us join_our join_now join_my register_now register_at register_here subscribe_to",
        "subscribe_my apply_now apply_today apply_here try_it_free try_our get_yours get_your",
        "get_my",
        "get_it_here get_free get_started get_a_free get_help get_instant get_now download_now",
        "download_free download_from start_today start_now start_your start_earning learn_more",
        "read_more more_info more_information more_details for_details for_more see_more go_to",
        "learn_how_to learn_more_about explore_our explore_more read_our",
        "see_our view_our browse_our",
        "be_sure_to don't_forget_to write_at write_on reach_at text_on text_to apply_at paste_with",
        "can_register register_on you_can_buy you_can_order you_can_get you_can_check give_a_call",
        "enquiry book_through book_via dm_for dm contact_on contact_at",
        "contact_mr contact_mrs contact",
        "ask_for search_for look_up look_for feel_free_to_visit don't_miss don't_wait act_now",
        "hurry_up",
        "take_a_look have_a_look come_visit place_your grab_your claim_your follow_me follow_us",
        "link_in link_below my_channel my_website my_site my_blog my_page my_profile our_website",
        "our_site our_page our_store our_shop our_blog our_team our_company our_clinic",
        "our_channel",
        "our_service our_services our_products our_office our_app our_platform give_it_a_try",
        "give_them_a check_their try_them recommend_them highly_recommend highly_recommended",
        "i_recommend you_should_try you_must_try should_try must_try should_check worth_checking",
        "worth_a_look can_visit may_visit can_find_more find_more find_out_more send_me enquire",
        "inquire_now get_quote drop_me ping_me hit_me hmu",
        # German
        "hier_klicken klicken_sie besuchen_sie jetzt_bestellen jetzt_anfragen jetzt_sichern",
        "jetzt_anmelden jetzt_kaufen bestellen_sie kontaktieren_sie rufen_sie schreiben_sie",
        "anrufen",
        "schauen_sie melden_sie mehr_infos mehr_dazu infos_unter unsere_website unserer_website",
        "jetzt_nur jetzt_testen jetzt_buchen jetzt_online einfach_auf anfragen empfehle_ich",
        # French
        "cliquez visitez contactez contactez_moi contactez_nous commandez appelez profitez",
        "découvrez essayez réservez inscrivez notre_site mon_site rendez_vous_sur écrivez_moi",
        "je_vous_conseille je_recommande je_vous_recommande n'hésitez_pas",
        # Spanish, Portuguese, Italian
        "haz_clic haga_clic visita visite visiten contacta contacte contáctanos contáctame llama",
        "llame pide pida compra_ya compra_aquí regístrate aprovecha aprovecha_ya escríbeme",
        "escríbanos",
        "nuestra_página nuestra_web nuestro_sitio mi_página les_recomiendo te_recomiendo",
        "clique acesse confira peça chame_no chama_no compre aproveite entre_em_contato",
        "nosso_site",
        "meu_site recomendo visitem clicca visitate contattaci contattami ordina prenota scrivimi",
        "nostro_sito chiama chiamate approfitta consiglio_a",
        # Dutch, Swedish, Finnish, Polish, Czech, Romanian
        "klik_hier bezoek kijk_op bestel_nu neem_contact bel_ons onze_website klicka besök",
        "beställ",
        "kontakta_oss läs_mer klikkaa tilaa osta käy_sivulla kliknij odwiedź zamów zadzwoń",
        "sprawdź",
        "zapraszam zapraszamy skontaktuj napisz klikněte navštivte objednejte volejte pište",
        "vizitați accesați contactați comandă sunați",
        # Turkish, Indonesian, Vietnamese
        "tıkla tıklayın ziyaret_edin bize_ulaşın hemen sipariş iletişim klik_di kunjungi hubungi",
        "daftar_sekarang pesan_sekarang cek_di truy_cập liên_hệ đăng_ký nhấn_vào zalo",
        # Other scripts
        "жми жмите переходите заходите пишите звоните обращайтесь закажите подробнее",
        "подписывайтесь",
        "переходь заходьте пишіть телефонуйте замовляйте детальніше вацап телеграм ватсап вайбер",
        "επισκεφθείτε επισκεφτείτε κάντε_κλικ καλέστε επικοινωνήστε παραγγείλτε δείτε",
        "לחצו בקרו היכנסו כנסו התקשרו צרו_קשר הזמינו וואטסאפ",
        "اضغط زوروا زيارة تواصل تواصلوا اتصل واتساب واتس احجز احجزوا سجل اطلب اطلبوا",
        "کلیک تماس واتساپ تلگرام بزنید سفارش مراجعه_کنید",
        "क्लिक संपर्क कॉल_करें व्हाट्सएप विजिट call_karo call_kare whatsapp_kare visit_kare",
    ),
    # A writer who speaks for a business, or introduces a service.
    Cue.PITCH: (
        "reminds_me_of_playing speaking_of on_a_related if_you_enjoy if_you_love while_you're_at",
        "playing_the i_play play_it play_online online_game browser_game",
        "dear_sir sir_madam hello_dear dear_friend my_dear_friend dear_all for_more_tips i_advise",
        "i_help i_can_help i_give i_do_private private_lender serious_person game_changer powered",
        "are_you_in_need in_need_of looking_for want_to_learn ready_to discover_how discover_the",
        "speaking_with the_best_in the_best_for best_for no_more",
        "transform_your boost_your improve_your",
        "protect_your grow_your your_business your_home your_family for_your partner_with trust_us",
        "we_offer we_provide we_supply we_are_a we_are_the we_are_an we_deliver we_specialize",
        "we_specialise we_help we_sell we_buy we_ship we_do we_also we_have_a we_run_a",
        "we_make_custom",
        "we_factory we_are_factory our_experts our_professional our_expert our_experienced",
        "our_customers our_clients my_company my_agency my_business i_sell i_offer i_provide",
        "i'm_working_at working_at working_for i_work_at my_name_is myself i_am_from is_a_leading",
        "is_the_best are_the_best leading_provider one_stop number_one no_1 the_best_place",
        "if_you_are_looking if_you're_looking if_you_need if_you_want if_you_ever",
        "if_you_interest*",
        "if_you_wish if_you_like if_anyone if_anybody if_someone for_anyone for_those_who",
        "anyone_looking looking_for_a are_you_looking do_you_need do_you_want want_to_buy need_a",
        "need_help those_who_want people_who_want tired_of struggling_with changed_my_life",
        "saved_my god_sent he_helped she_helped helped_me_recover helped_me_get thanks_to_dr",
        "i_found",
        "came_across introduced_me i_switched i_use i_started_using i_got_mine everyone_should",
        "offers_a offers_the offer_the provides_the provide_the handles designed_to",
        "powered_by all_in_one trusted_by specializes_in specialises_in experts_in helps_you",
        "let_you",
        "lets_you allows_you makes_it_easy for_all_your ai_powered 100_guaranteed fully_automated",
        "wir_bieten wir_liefern wir_sind wir_helfen unser_team nous_proposons nous_offrons",
        "nous_sommes notre_équipe notre_agence ofrecemos somos_una somos_un nuestro_equipo",
        "oferecemos",
        "somos_uma nossa_equipe nossa_empresa offriamo siamo_una il_nostro_team wij_bieden",
        "wij_zijn",
        "vi_erbjuder oferujemy nasza_firma jesteśmy nabízíme naše_firma jsme oferim tarjoamme",
        "sunuyoruz kami_menyediakan kami_adalah chúng_tôi мы_предлагаем наша_компания мы_поможем",
        "ми_пропонуємо наша_компанія προσφέρουμε είμαστε אנחנו_מציעים אנו_מציעים نقدم نوفر شركتنا",
        "ما_ارائه हम_देते हमारी wer_noch für_alle pour_ceux quien_quiera para_quien per_chi",
        "voor_wie",
    ),
    # Praise that would fit any post.
    Cue.PRAISE: (
        "great_post great_article great_blog great_read great_job great_work great_content",
        "great_information great_info great_insights great_share great_tips nice_post",
        "nice_article",
        "nice_blog nice_information nice_info nice_work nice_sharing nice_one good_post",
        "good_article",
        "good_job good_work good_information good_read good_blog amazing_post amazing_article",
        "amazing_blog amazing_content awesome_post awesome_article awesome_blog excellent_post",
        "excellent_article excellent_blog excellent_work wonderful_post wonderful_article",
        "wonderful_blog fantastic_post fantastic_article fantastic_read interesting_post",
        "interesting_article interesting_read interesting_blog informative insightful valuable",
        "thought_provoking thanks_for_sharing thank_you_for_sharing thanks_for_this",
        "thank_you_for_this",
        "thanks_for_the thank_you_for_the thanks_for_posting thanks_for_your thank_you_for_your",
        "thx_for very_helpful really_helpful so_helpful very_useful really_useful super_helpful",
        "helpful_post useful_post useful_article useful_information well_written well_explained",
        "well_researched well_structured well_done keep_it_up keep_up keep_posting keep_writing",
        "keep_sharing keep_going engaging compelling refreshing inspiring eye_opening",
        "must_read fascinating_read fascinating_article worth_reading i_learned_a_lot",
        "learned_a_lot",
        "i_appreciate appreciate_your appreciate_the loved_this love_this love_your",
        "enjoyed_reading",
        "enjoyed_this i_enjoyed looking_forward bookmark* bookmarked bookmarking your_site",
        "your_blog",
        "your_website your_content your_posts your_article this_article_provides",
        "this_post_provides",
        "fascinating comprehensive masterfully cleverly eloquently",
        "beautifully articulate* highlights",
        "sehr_informativ toller_beitrag toller_artikel guter_artikel guter_beitrag",
        "schöner_beitrag",
        "danke_für_den danke_fürs vielen_dank_für super_beitrag super_artikel gelungener_beitrag",
        "très_intéressant très_instructif bel_article excellent_article super_article",
        "merci_pour_ce merci_pour_cet merci_pour_le merci_du_partage article_intéressant",
        "excelente_artículo excelente_post muy_interesante gran_artículo buen_artículo",
        "muy_informativo",
        "gracias_por_compartir gracias_por_la muy_útil excelente_artigo ótimo_artigo ótimo_post",
        "muito_bom muito_interessante obrigado_por_compartilhar obrigada_por_compartilhar",
        "parabéns_pelo",
        "ottimo_articolo articolo_interessante molto_interessante grazie_per_la bell'articolo",
        "goed_artikel interessant_artikel leuk_artikel bedankt_voor_het bra_artikel",
        "intressant_artikel",
        "tack_för_att świetny_artykuł bardzo_ciekawy ciekawy_artykuł dzięki_za skvělý_článek",
        "děkuji_za harika_bir_yazı güzel_bir_yazı çok_faydalı artikel_bagus sangat_bermanfaat",
        "terima_kasih_atas bài_viết_hay bài_viết_rất отличная_статья интересная_статья спасибо_за",
        "полезная_статья дякую_за чудова_стаття εξαιρετικό_άρθρο πολύ_ενδιαφέρον כתבה_מעניינת",
        "פוסט_מעולה مقال_رائع مقال_ممتاز شكرا_على شكراً_على مقاله_عالی بسیار_عالی بہت_عمدہ",
        "बहुत_अच्छा बढ़िया_लेख शानदार_लेख bahut_accha badhiya",
    ),
    Cue.YOU: (
        "you your yours you're you'll yourself u ur sie ihr ihre ihren ihnen dir dich dein deine",
        "du",
        "vous votre vos tu te ton tes usted ustedes su você vocês seu sua voi vi vostro tuo tua",
        "je",
        "jouw jij uw din ditt dina er era sinun teidän twój twoja ty wy was ci váš vaše vám tvůj",
        "siz sizin sen senin kamu anda bạn вы вас вам ваш ваша ваше ваши ты тебе твой ви вам",
        "σας σου εσείς אתם לכם שלכם לך أنت لك لكم شما برای_شما आप आपके आपका आपको aap aapka aapke",
    ),
    Cue.ME: (
        "i i'm i've i'd i'll me my mine myself we we've ich mir mein meine meinen meinem wir uns",
        "je j'ai mon ma mes nous yo mi mis mío nos nosotros eu meu minha io mio mia ho noi ik",
        "mijn",
        "wij jag min mitt mina minä minun mulla ja mnie mój moja moje mam já mně můj moje jsem",
        "ben",
        "benim bana bizim saya aku kami tôi mình я мне меня мой моя моё мои у_меня мені мене мій",
        "εγώ μου με אני שלי לי أنا لي عندي من خودم मैं मुझे मेरा मेरी मेरे main mera meri mujhe",
    ),
    # Somebody steps forward to speak for themselves or for a business.
    Cue.INTRO: (
        "my_name_is we_run_a we_run_an hello_friend hello_my_friend my_dear_friend dear_friend",
        "dear_friends dear_sir dear_sirs dear_madam dear_webmaster dear_admin dear_all hello_dear",
        "hi_dear hi_this_is hello_this_is hello_sir hi_sir we_factory we_are_factory",
        "hello_i'm hi_i'm hello_i_am",
    ),
    # Slips that salesmen's templates share; honest second-language writers make them too, so they
    # only ever add to an advert that other things show.
    Cue.SLIP: (
        "if_you_interest if_you_interested if_your_interest you_interest much_valuable",
        "do_not_hesitation don't_hesitation many_customer many_client our_customer_are for_updates",
        "for_your_updates student_who students_who_is students_who_want we_factory we_supplier",
        "he_have she_have it_have anyone_want anybody_want",
        "anyone_need anybody_need so_valuable_page",
        "we_are_provide we_are_offer i_am_provide glad_see many_peoples",
    ),
    # Words of somebody who weighs things: rare in adverts.
    Cue.HEDGE: (
        "but however although though downside drawback caveat disclosure disclaimer biased bias",
        "unfortunately except unless instead annoying broken breaks broke fails failed wrong",
        "worse",
        "slower ugly actually probably maybe perhaps wonder disagree afaik imo imho guess doubt",
        "unsure",
        "not_sure edit correction update sorry oddly admittedly aber leider allerdings nachteil",
        "obwohl",
        "trotzdem mais malheureusement cependant bémol pero aunque sin_embargo quizás mas porém",
        "talvez infelizmente però purtroppo forse maar helaas misschien men tyvärr kanske mutta",
        "ehkä",
        "ale niestety może chociaż bohužel možná ama maalesef belki tapi sayangnya mungkin nhưng",
        "но однако правда жаль может наверное але шкода можливо αλλά δυστυχώς ίσως אבל לצערי אולי",
        "لكن للأسف ربما اما ولی متأسفانه शायद लेकिन मगर lekin shayad",
    ),
}

# Scripts that write no spaces are searched for these pieces instead of for words. They are regular
# expressions, as pieces of other words look alike: "年代写真", "무대 출연", "토토로".
UNSPACED: dict[Cue, tuple[str, ...]] = {
    Cue.OFFER: (
        "割引 送料無料 無料 激安 格安 特価 限定 クーポン キャンペーン 通販 お得 販売 保証 正規品",
        "최저가 할인 무료",
        "배송 쿠폰 이벤트 특가 상담 优惠 折扣 免费 特价 包邮 低价 批发 厂家 代理 正品 优惠码",
        "優惠 免費 特價 低價",
        "批發 折扣碼 現貨 专业团队 專業團隊 一站式 満足 副業 月入 日赚",
    ),
    Cue.VICE: (
        "カジノ 出会い(?:系|サイト|アプリ|掲示板) 融資 闇金 稼げる 稼ぐ 副業 仮想通貨 暗号資産",
        "投資案件 ギャンブル パチンコ パチスロ スロットマシン オンラインスロット ブックメーカー",
        "競馬予想 デリヘル アダルト動画 バイアグラ 論文代筆 占い師 電話占い 被リンク 카지노",
        r"토토(?!로) 바카라 (?<!무)대출(?!한|해|했|연) 먹튀 (?<!수)도박 스포츠\s?배팅",
        r"배팅\s?사이트 베팅 룰렛 슬롯머신 슬롯사이트 온라인슬롯 출장\s?안마 조건만남 성인용품",
        r"야동(?!물) 논문\s?대필 코인\s?투자 비아그라 백링크 급전(?!직|선|환|개) 赌场 赌博",
        "博彩(?!众|眾) 投注 老虎机 六合彩 彩票 棋牌(?:游戏|平台) (?<!房)贷款(?!项) 网贷",
        "(?<![现古当近年时世朝交替历])代写(?!真) 代孕 加密货币 虚拟币 虚拟货币 投资理财 高回报",
        "刷单 兼职(?:赚|日|招|刷) 招兼职 约炮 色情 小姐上门 伟哥 算命",
        "外链(?:代发|建设|群发|购买) 发外链 刷粉 办证 代开发票 套现 賭場 賭博 娛樂城 老虎機",
        "(?<!房)貸款(?!項) (?<![現古當近年時世朝交替歷])代寫(?!真) 加密貨幣 虛擬貨幣 投資理財",
        "兼職(?:賺|日|招) 百家樂 威而鋼 發外鏈 คาสิโน พนัน บาคาร่า แทงบอล หวย เว็บสล็อต เกมสล็อต",
        "สล็อต(?:แตก|ออนไลน์|เว็บ) เงินกู้ สินเชื่อ คริปโต หนังโป๊ ไวอากร้า หมอดู(?!แล|อา|ให้) แบคลิงค์",
        "รับทำวิทยานิพนธ์",
    ),
    Cue.CALL: (
        "こちら クリック お問い合わせ お申し込み 詳しくは 検索 登録 ご覧ください ライン追加 LINE",
        "클릭 문의 방문 카톡",
        "바로가기 신청 검색 点击 加微信 微信 联系 扫码 请访问 咨询 注册 私信 點擊 加賴 聯絡 掃碼",
        "請訪問 諮詢 註冊 加LINE",
    ),
    Cue.PITCH: ("弊社 当社 当店 私たちは 저희 당사 我们公司 我司 本店 我們公司 本公司 小編",),
    Cue.PRAISE: (
        "素晴らしい記事 参考になりました 勉強になりました 좋은글 유익한 写得很好 好文章 学习了",
        "受益匪浅 很有帮助 寫得很好 受益良多 感謝分享 感谢分享 精彩",
    ),
    Cue.ME: ("私 僕 俺 うち 저는 저도 제 나는 我 咱",),
    Cue.HEDGE: ("けど ただ しかし でも かもしれ 하지만 그런데 다만 但是 不过 可惜 可能 不過",),
}


_STEM_LETTERS = 4
_MAY_LACK_SPACES = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


class Hit(NamedTuple):
    """One cue with where it stands."""

    cue: Cue
    start: int
    end: int


class _Entry(NamedTuple):
    """What a word starts: cues of its own, and phrases as the words that must follow."""

    cues: tuple[Cue, ...]
    phrases: tuple[tuple[tuple[str, ...], Cue], ...]


def _read_lexicon() -> tuple[dict[str, _Entry], dict[str, tuple[tuple[str, Cue], ...]]]:
    """Return the lexicon by first word, and its stems by their first letters."""
    cues: dict[str, list[Cue]] = defaultdict(list)
    phrases: dict[str, list[tuple[tuple[str, ...], Cue]]] = defaultdict(list)
    stems: dict[str, list[tuple[str, Cue]]] = defaultdict(list)
    for cue, entry in dict.fromkeys(_entries()):
        first, *rest = entry.split("_")
        if rest:
            phrases[first].append((tuple(rest), cue))
        elif entry.endswith("*"):
            stems[entry[:_STEM_LETTERS]].append((entry[:-1], cue))
        else:
            cues[entry].append(cue)
    words = {w: _Entry(tuple(cues[w]), tuple(phrases[w])) for w in (*cues, *list(phrases))}
    return words, {letters: tuple(found) for letters, found in stems.items()}


def _entries() -> Iterator[tuple[Cue, str]]:
    for cue, lines in ENTRIES.items():
        for line in lines:
            yield from ((cue, entry) for entry in line.split())


_WORDS, _STEMS = _read_lexicon()
_UNSPACED = {
    cue: re.compile("|".join(piece for line in lines for piece in line.split()))
    for cue, lines in UNSPACED.items()
}


def find_cues(text: str, words: list[Word]) -> tuple[Hit, ...]:
    """Return every cue in the text, ordered by where it starts; the words are those of the text."""
    hits: list[Hit] = []
    for index, (word, start, end) in enumerate(words):
        entry = _WORDS.get(word)
        if entry is not None:
            hits.extend([Hit(cue, start, end) for cue in entry.cues])
            if entry.phrases:
                hits.extend(_phrases_at(words, index, entry))
        stems = _STEMS.get(word[:_STEM_LETTERS])
        if stems is not None:
            hits.extend([Hit(cue, start, end) for stem, cue in stems if word.startswith(stem)])
    if _MAY_LACK_SPACES.search(text):
        for cue, pattern in _UNSPACED.items():
            hits.extend(Hit(cue, m.start(), m.end()) for m in pattern.finditer(text))
        hits.sort(key=lambda hit: hit.start)
    return tuple(hits)


def _phrases_at(words: list[Word], index: int, entry: _Entry) -> list[Hit]:
    found: list[Hit] = []
    follows = words[index + 1].text if index + 1 < len(words) else ""
    for rest, cue in entry.phrases:
        if rest[0] != follows:
            continue
        last = index + len(rest)
        if last < len(words) and all(
            words[index + 2 + k].text == wanted for k, wanted in enumerate(rest[1:])
        ):
            found.append(Hit(cue, words[index].start, words[last].end))
    return found
